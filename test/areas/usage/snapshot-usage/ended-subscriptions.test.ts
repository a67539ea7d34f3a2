import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { openStory, type Story } from '../../../support/story.ts';
import { until } from '../../../support/until.ts';

// The days of a period in which a subscription ends add up to its last invoice (usage-reads.md#daily-usage).
let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** April with three units from its first day: at 10.00 each, weighed by days. */
async function april(customer: object = {}): Promise<Story> {
  const story = await openStory(service, '2025-04-01T00:00:00Z');
  await story.customer(customer);
  const metric = await story.metric('seats', { aggregation_type: 'sum_agg', field_name: 'n', recurring: true });
  const billable_metric_id = metric.svc_id;
  const charge = { billable_metric_id, charge_model: 'standard', prorated: true, properties: { amount: '10' } };
  await story.plan({ amount_cents: 0, charges: [charge] });
  await story.plan({ code: 'bare', amount_cents: 10_000 });
  await story.subscribe();
  const event = { transaction_id: 'three', external_subscription_id: 'sub', code: 'seats', properties: { n: 3 } };
  expect((await story.client.post('/events', { event })).status).toBe(200);
  await story.advanceTo('2025-04-05T10:00:00Z');
  return story;
}

const differences = ({ organizationId }: Story) => service.sql<{ day: string; amount: string; units: string }[]>`
  select usage_date::text as day, added.amount_cents::text as amount, trim_scale(added.units)::text as units
  from daily_usages, jsonb_to_recordset(usage_diff) as added (units numeric, amount_cents numeric)
  where organization_id = ${organizationId} order by usage_date`;

const kept = (story: Story, count: number) =>
  until(async () => {
    const rows = await differences(story);
    return rows.length >= count ? rows.map(({ day, amount, units }) => [day, amount, units]) : undefined;
  });

test('the last day of a terminated subscription takes back what was weighted by the whole period', async () => {
  const story = await april();
  await story.advanceTo('2025-04-10T10:00:00Z');
  await story.client.delete('/subscriptions/sub');
  const [invoice] = await story.invoices(1);
  expect(invoice).toMatchObject({ total_amount_cents: 1000 });
  expect(await kept(story, 2)).toEqual([
    ['2025-04-01', '3000', '3'],
    ['2025-04-10', '-2000', '0'],
  ]);
  const { body } = await story.client.get('/analytics/usage?from_date=2025-04-01&to_date=2025-05-01');
  expect(body.usages).toMatchObject([
    { start_of_period_dt: '2025-04-01', amount_cents: 3000, units: '3.0' },
    { start_of_period_dt: '2025-04-10', amount_cents: -2000, units: '0.0' },
  ]);
});

test('the last day before an upgrade takes back the day of the upgrade, and follows a draft until it is final', async () => {
  const story = await april({ billing_configuration: { invoice_grace_period: 3 } });
  await story.advanceTo('2025-04-10T10:00:00Z');
  await story.subscribe({ plan_code: 'bare' });
  expect(await kept(story, 2)).toEqual([
    ['2025-04-01', '3000', '3'],
    ['2025-04-10', '-2100', '0'],
  ]);
  // Six more units, of which the draft bills the 9th of April.
  const late = { transaction_id: 'late', external_subscription_id: 'sub', code: 'seats', properties: { n: 6 } };
  const timestamp = Date.parse('2025-04-09T10:00:00Z') / 1000;
  expect((await story.client.post('/events', { event: { ...late, timestamp } })).status).toBe(200);
  await story.advanceTo('2025-04-14T10:00:00Z');
  const sum = await until(async () => {
    const rows = await differences(story);
    const total = rows.reduce((cents, { amount }) => cents + Number(amount), 0);
    return total === 1100 ? total : undefined;
  });
  expect(sum).toBe(1100);
  const invoices = await story.invoices(1);
  expect(invoices[0].fees.filter(({ item }: { item: { type: string } }) => item.type === 'charge')).toMatchObject([
    { amount_cents: 1100 },
  ]);
});
