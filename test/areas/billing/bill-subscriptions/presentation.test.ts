import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { type Invoice, openStory } from '../../../support/story.ts';

// Rule: groups-and-filters.md#presentation.
let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

test('a fee is split by the keys that documents show, usage by all keys, and prices stay the same', async () => {
  const story = await openStory(service, '2024-03-01T00:00:00Z');
  await story.customer();
  const metric = await story.metric('calls', { aggregation_type: 'sum_agg', field_name: 'value' });
  await story.plan({
    amount_cents: 0,
    charges: [
      {
        billable_metric_id: metric.svc_id,
        charge_model: 'standard',
        properties: {
          amount: '1',
          presentation_group_keys: [{ value: 'team', options: { display_in_invoice: true } }, { value: 'user' }],
        },
      },
    ],
  });
  await story.subscribe();
  const events: [string, string | undefined, number][] = [
    ['a', 'u1', 1],
    ['a', 'u2', 2],
    ['b', 'u1', 4],
    ['b', undefined, 8],
  ];
  for (const [team, user, value] of events) {
    const event = { transaction_id: `t${value}`, external_subscription_id: 'sub', code: 'calls' };
    const properties = { value, team, ...(user && { user }) };
    expect((await story.client.post('/events', { event: { ...event, properties } })).status).toBe(200);
  }
  const usage = await story.client.get('/customers/acme/current_usage?external_subscription_id=sub');
  expect(usage.body.customer_usage.charges_usage[0].presentation_breakdowns).toEqual([
    { presentation_by: { team: 'a', user: 'u1' }, units: '1.0' },
    { presentation_by: { team: 'a', user: 'u2' }, units: '2.0' },
    { presentation_by: { team: 'b', user: 'u1' }, units: '4.0' },
    { presentation_by: { team: 'b', user: null }, units: '8.0' },
  ]);
  await story.advanceTo('2024-04-01T02:00:00Z');
  const [april] = await story.invoices(1);
  const [fee] = april.fees.filter(({ item }: Invoice) => item.type === 'charge');
  expect(fee).toMatchObject({
    amount_cents: 1500,
    presentation_breakdowns: [
      { presentation_by: { team: 'a' }, units: '3.0' },
      { presentation_by: { team: 'b' }, units: '12.0' },
    ],
  });
});

test('a fee of one event shows the values of that event', async () => {
  const story = await openStory(service, '2024-03-01T00:00:00Z');
  await story.customer();
  const metric = await story.metric('calls', { aggregation_type: 'sum_agg', field_name: 'value' });
  const key = { value: 'team', options: { display_in_invoice: true } };
  await story.plan({
    amount_cents: 0,
    charges: [
      {
        billable_metric_id: metric.svc_id,
        charge_model: 'standard',
        pay_in_advance: true,
        properties: { amount: '1', presentation_group_keys: [key] },
      },
    ],
  });
  await story.subscribe();
  await story.use('calls', { value: 3, team: 'a' }, { transaction_id: 't1' });
  const [invoice] = await story.invoices(1);
  expect(invoice.fees[0].presentation_breakdowns).toEqual([{ presentation_by: { team: 'a' }, units: '3.0' }]);
});
