import { afterAll, beforeAll, expect, test } from 'vitest';
import { firstIdAt } from '../../../../src/platform/ids.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { openStory, type Story } from '../../../support/story.ts';
import { until } from '../../../support/until.ts';
import { ok, type Shown } from '../../../support/words.ts';

// Usage that comes late while the invoice of its month waits for its taxes: event-corrections.md#late-events. A tax
// engine refuses the address of the customer, so the invoice fails, and is final when the address is right. 13 units of
// March cost 10.00 each.
let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** 10 March: 13 units were used. The engine accepts the address. */
async function march(): Promise<Story> {
  const story = await openStory(service, '2024-03-01T00:00:00Z');
  await ok(
    story.client.post('/integrations', {
      integration: { type: 'anrok', code: 'engine', name: 'Engine', api_key: 'sandbox' },
    }),
  );
  await story.customer({
    country: 'US',
    state: 'CO',
    integration_customers: [{ integration_type: 'anrok', integration_code: 'engine', sync_with_provider: true }],
  });
  const metric = await story.metric('units', { aggregation_type: 'sum_agg', field_name: 'n' });
  await story.plan({
    amount_cents: 0,
    usage_policies: { late_events: 'next_invoice' },
    charges: [
      { billable_metric_id: metric.svc_id, code: 'units', charge_model: 'standard', properties: { amount: '10' } },
    ],
  });
  await story.subscribe();
  await story.advanceTo('2024-03-10T00:00:00Z');
  await story.use('units', { n: '13' }, { transaction_id: 'thirteen' });
  return story;
}

const address = (story: Story, address_line1: string) => story.customer({ address_line1 });
const late = (story: Story) => story.use('units', { n: '5' }, { transaction_id: 'late', at: '2024-03-20T00:00:00Z' });
const inStatus = (story: Story, { svc_id }: Shown, status: string): Promise<Shown> =>
  until(async () => {
    const invoice = await story.invoice(svc_id);
    return invoice.status === status ? invoice : undefined;
  });

/** The hourly job has looked, and will not look at the same events again, as if an hour of real time had passed. */
async function looked(story: Story): Promise<void> {
  await story.advanceTo('2024-04-02T03:00:00Z');
  const inAnHour = firstIdAt({ epochMilliseconds: Date.now() + 3_600_000 });
  const rows = await service.sql`
    update late_event_cursors set seen_id = ${inAnHour} where organization_id = ${story.organizationId} returning 1`;
  expect(rows).toHaveLength(1);
}

/** Cents of the usage on the invoice of April. */
async function inApril(story: Story): Promise<number[]> {
  await story.advanceTo('2024-05-02T00:00:00Z');
  const { invoices } = await ok(story.client.get('/invoices?per_page=100&statuses[]=finalized'));
  const whole: Shown[] = await Promise.all(invoices.map((each: Shown) => story.invoice(each.svc_id)));
  const april = whole.find(({ billing_periods: [period] }) => period.charges_from_datetime.startsWith('2024-04-01'));
  return april.fees.filter(({ item }: Shown) => item.type === 'charge').map((fee: Shown) => fee.amount_cents);
}

test('five units that come while a regenerated invoice waits are billed once it is final', async () => {
  const story = await march();
  await story.advanceTo('2024-04-02T00:00:00Z');
  const [first] = await story.invoices(1);
  expect(first).toMatchObject({ status: 'finalized', fees_amount_cents: 13_000 });
  await ok(story.client.post(`/invoices/${first.svc_id}/void`));
  await address(story, '1 fail street');
  const fees = first.fees.filter(({ item }: Shown) => item.type === 'charge').map(({ svc_id: id }: Shown) => ({ id }));
  const { invoice } = await ok(story.client.post(`/invoices/${first.svc_id}/regenerate`, { invoice: { fees } }));
  await inStatus(story, invoice, 'failed');
  await late(story);
  await looked(story);
  await address(story, '1 good street');
  expect(await inStatus(story, invoice, 'finalized')).toMatchObject({ fees_amount_cents: 13_000 });
  expect(await inApril(story)).toContain(5000);
});

test('five units that come while a first invoice waits are billed once it is final (CO25)', async () => {
  const story = await march();
  await address(story, '1 fail street');
  await story.advanceTo('2024-04-02T00:00:00Z');
  const [first] = await story.invoices(1);
  expect(first).toMatchObject({ status: 'failed', fees_amount_cents: 13_000 });
  await story.advanceTo('2024-04-02T01:00:00Z');
  await late(story);
  await looked(story);
  await address(story, '1 good street');
  expect(await inStatus(story, first, 'finalized')).toMatchObject({ fees_amount_cents: 13_000 });
  expect(await inApril(story)).toContain(5000);
});

test('units that came on several pages of the usage of an invoice that waited are one correction', async () => {
  const story = await march();
  const lines = Array.from({ length: 5000 }, (_, n) =>
    JSON.stringify({
      transaction_id: `none-${n}`,
      external_subscription_id: 'sub',
      code: 'units',
      timestamp: Date.parse('2024-03-15T00:00:00Z') / 1000 + n,
      properties: { n: '0' },
    }),
  );
  const headers = { 'content-type': 'application/x-ndjson' };
  await ok(story.client.post('/events/bulk', undefined, { raw: lines.join('\n'), headers }));
  await address(story, '1 fail street');
  await story.advanceTo('2024-04-02T00:00:00Z');
  const [first] = await story.invoices(1);
  await story.advanceTo('2024-04-02T01:00:00Z');
  await story.use('units', { n: '5' }, { at: '2024-03-12T00:00:00Z' });
  await story.use('units', { n: '3' }, { at: '2024-03-20T00:00:00Z' });
  await looked(story);
  await address(story, '1 good street');
  await inStatus(story, first, 'finalized');
  expect(await inApril(story)).toContain(8000);
  const { corrections } = await ok(story.client.get('/events/corrections?kinds[]=late_events'));
  expect(corrections).toMatchObject([{ status: 'settled', events_count: 2 }]);
});
