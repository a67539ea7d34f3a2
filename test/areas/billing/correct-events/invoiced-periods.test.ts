import { afterAll, beforeAll, expect, test } from 'vitest';
import { json } from '../../../../src/platform/db/values.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { openStory, type Story } from '../../../support/story.ts';
import { until } from '../../../support/until.ts';

// What a correction means for invoices: event-corrections.md#effect. What it comes to where they are settled is in
// settle.test.ts.
let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** CO1: standard 10.00, 12 units in March, in two events. */
async function march(charge: object = {}, customer: object = {}): Promise<Story> {
  const story = await openStory(service, '2024-03-01T00:00:00Z');
  await story.customer(customer);
  const metric = await story.metric('units', { aggregation_type: 'sum_agg', field_name: 'n', ...metricOf(charge) });
  await story.plan({
    amount_cents: 0,
    charges: [
      {
        billable_metric_id: metric.svc_id,
        code: 'units',
        charge_model: 'standard',
        properties: { amount: '10' },
        ...charge,
      },
    ],
  });
  await story.subscribe();
  await story.advanceTo('2024-03-10T00:00:00Z');
  for (const [transaction_id, n] of [
    ['ten', '10'],
    ['two', '2'],
  ])
    await story.client.post('/events', {
      event: { transaction_id, external_subscription_id: 'sub', code: 'units', properties: { n } },
    });
  return story;
}

const metricOf = (charge: object) => ('recurring' in charge ? { recurring: true } : {});

const retract = (story: Story, fields: object = {}) =>
  story.client.post('/events/corrections', {
    correction: {
      kind: 'retract',
      reason: 'double',
      external_subscription_id: 'sub',
      transaction_id: 'two',
      ...fields,
    },
  });

test('correcting an event of a draft invoice changes its fee to 10000 and makes no adjustment (CO6)', async () => {
  const story = await march({}, { billing_configuration: { invoice_grace_period: 3 } });
  await story.advanceTo('2024-04-01T12:00:00Z');
  const [draft] = await story.invoices(1);
  expect(draft).toMatchObject({ status: 'draft', fees_amount_cents: 12000 });
  const { body } = await retract(story);
  expect(body.correction).toMatchObject({
    status: 'settled',
    draft_invoices_count: 1,
    invoices_count: 0,
    adjustments: [],
  });
  await story.advanceTo('2024-04-05T12:00:00Z');
  const [final] = await story.invoices(1);
  expect(final).toMatchObject({ status: 'finalized', fees_amount_cents: 10000 });
});

test('correcting an event of a period that is not billed yet makes its invoice right from the start', async () => {
  const story = await march();
  expect((await retract(story)).body.correction).toMatchObject({ draft_invoices_count: 0, invoices_count: 0 });
  await story.advanceTo('2024-04-01T12:00:00Z');
  expect((await story.invoices(1))[0]).toMatchObject({ status: 'finalized', fees_amount_cents: 10000 });
});

test('with the policy ignore a correction is recorded, and the invoice stays as it is', async () => {
  const story = await march();
  await story.advanceTo('2024-04-02T00:00:00Z');
  const [before] = await story.invoices(1);
  const { body } = await retract(story, { policy: 'ignore' });
  expect(body.correction).toMatchObject({ status: 'settled', policy: 'ignore', invoices_count: 1 });
  expect(body.correction.adjustments).toMatchObject([
    {
      svc_invoice_id: before.svc_id,
      booked_as: 'recorded',
      from_datetime: '2024-03-01T00:00:00Z',
      to_datetime: '2024-03-31T23:59:59Z',
      old_amount_cents: 12000,
      delta_amount_cents: -2000,
    },
  ]);
  expect((await story.invoices(1))[0]).toMatchObject({ fees_amount_cents: 12000 });
});

test('a period that ends without an invoice is neither credited nor billed', async () => {
  const story = await march({ recurring: true });
  const settings = { usage_policies: { late_events: 'debit_invoice' } };
  expect((await story.client.put('/organizations/settings', { settings })).status).toBe(200);
  await story.advanceTo('2024-04-02T00:00:00Z');
  await story.use('units', { n: '7' }, { transaction_id: 'april' });
  await story.advanceTo('2024-04-10T00:00:00Z');
  expect((await story.client.delete('/subscriptions/sub?on_termination_invoice=skip')).status).toBe(200);
  await story.advanceTo('2024-04-11T00:00:00Z');
  const amend = { kind: 'amend', policy: 'debit_invoice' };
  for (const correction of [
    { ...amend, transaction_id: 'april', properties: { n: '9' } },
    { ...amend, transaction_id: 'april', properties: { n: '3' } },
    { transaction_id: 'april' },
  ])
    expect((await retract(story, correction)).body.correction).toMatchObject({ invoices_count: 0, adjustments: [] });
  await story.use('units', { n: '5' }, { transaction_id: 'late', at: '2024-04-05T00:00:00Z' });
  // March was invoiced: what changes there is billed, once and of March alone.
  const march_ = await retract(story, { ...amend, transaction_id: 'two', properties: { n: '5' } });
  expect(march_.body.correction.adjustments).toMatchObject([{ delta_amount_cents: 3000, booked_as: 'invoice' }]);
  await story.advanceTo('2024-06-02T00:00:00Z');
  expect((await story.invoices(2)).map(({ fees_amount_cents }) => fees_amount_cents)).toEqual([12000, 3000]);
  expect((await story.client.get('/credit_notes')).body.credit_notes).toEqual([]);
});

test('the policy of the organization applies where the request has none', async () => {
  const story = await march();
  await story.advanceTo('2024-04-02T00:00:00Z');
  await service.sql`
    update organizations set usage_policies = ${json({ corrections: 'ignore' })} where id = ${story.organizationId}`;
  expect((await retract(story)).body.correction).toMatchObject({ policy: 'ignore', status: 'settled' });
});

test('correcting an event of a recurring metric concerns every invoice from the event on', async () => {
  const story = await march({ recurring: true });
  await story.advanceTo('2024-05-02T00:00:00Z');
  const { body } = await retract(story, { policy: 'ignore' });
  expect(body.correction).toMatchObject({ invoices_count: 2 });
});

test('a range whose period is invoiced meanwhile is settled, and a page that fails may be retried', async () => {
  const story = await march();
  const range = { transaction_id: undefined, timestamp_from: '2024-03-01', timestamp_to: '2024-03-31', dry_run: true };
  const { svc_id } = (await retract(story, { kind: 'retract_range', ...range })).body.correction;
  await story.advanceTo('2024-04-02T00:00:00Z');
  // As if its pages had waited for the whole of March.
  await service.sql`
    update event_corrections set status = 'failed', dry_run = false, finished_at = null where id = ${svc_id}`;
  await service.sql`
    insert into event_correction_events (organization_id, correction_id, event_id)
    select organization_id, ${svc_id}::uuid, id from events where organization_id = ${story.organizationId}`;
  // A statement of the page fails.
  await service.sql.unsafe(`
    create function refuse_versions() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$;
    create trigger refuse_versions before insert on event_versions for each row execute function refuse_versions();`);
  const after = async (status: string) => {
    const { status: answered } = await story.client.post(`/events/corrections/${svc_id}/retry`, {});
    expect(answered).toBe(200);
    return until(async () => {
      const { correction } = (await story.client.get(`/events/corrections/${svc_id}`)).body;
      return correction.status === status ? correction : undefined;
    });
  };
  expect(await after('failed')).toMatchObject({ progress: { done: 0, total: 2 }, error: { code: 'internal_error' } });
  expect((await story.client.get('/events')).body.meta.total_count).toBe(2);
  await service.sql.unsafe('drop trigger refuse_versions on event_versions; drop function refuse_versions()');
  const settled = await after('settled');
  expect(settled).toMatchObject({ invoices_count: 1, progress: { done: 2, total: 2, percent: 100 }, error: null });
  expect(settled.adjustments).toMatchObject([{ delta_amount_cents: -12000, booked_as: 'credit_note' }]);
  expect((await story.client.get('/events')).body.meta.total_count).toBe(0);
});
