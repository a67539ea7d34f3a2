import { afterAll, beforeAll, expect, test } from 'vitest';
import { wholeInputs } from '../../../src/engine/explain/shared-inputs.ts';
import { canonicalDigest } from '../../../src/platform/canonical-json.ts';
import { json } from '../../../src/platform/db/values.ts';
import { startService, type TestService } from '../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../support/story.ts';

// What is stored once for several fees: invoice-verification.md#shared-inputs.
const CHARGES = 12;
const MOST_BYTES_OF_A_FEE = 1024;

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** A month of a plan with 12 charges and a tax, each charge with one event, or with the groups given. */
async function monthEnd(groups: readonly string[] = [], graceDays = 0): Promise<{ story: Story; invoice: Invoice }> {
  const story = await openStory(service, '2024-03-01T00:00:00Z');
  const { client } = story;
  await client.post('/taxes', { tax: { name: 'VAT', code: 'vat', rate: '20', applied_to_organization: true } });
  await story.customer({ billing_configuration: { invoice_grace_period: graceDays } });
  const charges: object[] = [];
  for (let n = 0; n < CHARGES; n += 1) {
    const metric = { name: `M${n}`, code: `m${n}`, aggregation_type: 'sum_agg', field_name: 'units' };
    const { body } = await client.post('/billable_metrics', { billable_metric: metric });
    const keys = groups.length === 0 ? {} : { pricing_group_keys: ['zone'] };
    charges.push({
      billable_metric_id: body.billable_metric.svc_id,
      charge_model: 'standard',
      properties: { amount: `0.${n + 1}`, ...keys },
    });
  }
  await story.plan({ amount_cents: 1000, charges });
  await story.subscribe();
  const zones = groups.length === 0 ? [undefined] : groups;
  const events = zones.flatMap((zone) =>
    charges.map((_, n) => ({
      transaction_id: `${zone} ${n}`,
      external_subscription_id: 'sub',
      code: `m${n}`,
      timestamp: Date.parse('2024-03-10T00:00:00Z') / 1000 + n,
      properties: { units: n + 1, zone },
    })),
  );
  for (let from = 0; from < events.length; from += 100)
    expect((await client.post('/events/batch', { events: events.slice(from, from + 100) })).status).toBe(200);
  await story.advanceTo('2024-04-02T00:00:00Z');
  const [invoice] = await story.invoices(1);
  return { story, invoice: invoice! };
}

interface StoredRow {
  fee_id: string;
  inputs: object;
  shared_with: string | null;
  shared_inputs: object | null;
  whole_digest: string;
}

const rowsOf = (story: Story) => service.sql<StoredRow[]>`
  select stored.fee_id, stored.inputs, stored.shared_with, keeper.shared_inputs, encode(stored.digest, 'hex') as
    whole_digest
  from fee_inputs stored
  left join fee_inputs keeper on keeper.fee_id = stored.shared_with
  where stored.organization_id = ${story.organizationId}
  order by stored.fee_id`;

/** Bytes of rows, and of their two indexes of uuids: an entry of 16 bytes with its header and its pointer. */
async function bytesOfAFee(story: Story): Promise<number> {
  const INDEX_ENTRY = 28;
  const [row] = await service.sql<{ bytes: number }[]>`
    select avg(pg_column_size(stored.*) + ${INDEX_ENTRY}
      + case when shared_with is null then 0 else ${INDEX_ENTRY} end)::float8 as bytes
    from fee_inputs stored where organization_id = ${story.organizationId}`;
  return row!.bytes;
}

async function verify(story: Story, invoice: Invoice) {
  const answer = await story.client.post(`/invoices/${invoice.svc_id}/verify`, { verification: { level: 'events' } });
  expect(answer.status).toBe(200);
  return answer.body.verification;
}

test('the proof of a month end of 12 charges takes at most 1 KB a fee, and holds (VS1, VS4)', async () => {
  const { story, invoice } = await monthEnd();
  expect(await verify(story, invoice)).toMatchObject({ status: 'equal', compared: { fees: CHARGES + 1 } });
  const rows = await rowsOf(story);
  expect(rows).toHaveLength(CHARGES + 1);
  expect(new Set(rows.map(({ shared_with }) => shared_with)).size).toBe(2);
  for (const { inputs, shared_inputs, whole_digest } of rows)
    expect(canonicalDigest(wholeInputs(inputs, shared_inputs)).toString('hex')).toBe(whole_digest);
  expect(await bytesOfAFee(story)).toBeLessThanOrEqual(MOST_BYTES_OF_A_FEE);
});

test('a charge with many groups keeps its price once', async () => {
  const { story, invoice } = await monthEnd(Array.from({ length: 10 }, (_, n) => `zone-${n}`));
  expect(await verify(story, invoice)).toMatchObject({ status: 'equal', compared: { fees: CHARGES * 10 + 1 } });
  const rows = await rowsOf(story);
  expect(new Set(rows.map(({ shared_with }) => shared_with)).size).toBe(CHARGES + 1);
  expect(await bytesOfAFee(story)).toBeLessThanOrEqual(MOST_BYTES_OF_A_FEE);
});

/** The row of the first charge's fee, as it was stored before fees shared anything. */
const ROW_OF_BEFORE = {
  price: {
    prorated: false,
    is_true_up: false,
    charge_model: 'standard',
    pay_in_advance: false,
    sibling_filters: [],
    charge_filter_id: null,
    min_amount_cents: 0,
    pricing_unit_rate: null,
    properties: { amount: '0.1' },
  },
  usage: { grouped_by: {}, events_count: 1, units: '1', aggregated_units: '1', total_aggregated_units: '1' },
  metric: {
    filters: [],
    recurring: false,
    field_name: 'units',
    aggregation_type: 'sum_agg',
    rounding_function: null,
    rounding_precision: null,
    code: 'm0',
  },
  fee_type: 'charge',
  tail: {
    taxes: [{ code: 'vat', rate: '20', level: 'billing_entity' }],
    coupons: [],
    exponent: 2,
    progressive_credit_cents: '0',
  },
  before: {
    status: 'active',
    created_at: '2024-03-01T00:00:00Z',
    started_at: '2024-03-01T00:00:00Z',
    billing_time: 'calendar',
    has_older_fee: false,
    terminated_at: null,
    trial_ended_at: null,
    is_only_invoice: true,
    subscription_at: '2024-03-01T00:00:00Z',
    first_started_at: '2024-03-01T00:00:00Z',
    has_fee_of_same_day: false,
  },
  window: {
    fee: { to: '2024-04-01T00:00:00Z', from: '2024-03-01T00:00:00Z' },
    charges: { to: '2024-04-01T00:00:00Z', from: '2024-03-01T00:00:00Z' },
    timezone: 'UTC',
    billed_at: '2024-04-01T00:10:00Z',
    trial_end: null,
    succession: 'none',
    predecessor: 'none',
    subscription: { to: '2024-04-01T00:00:00Z', from: '2024-03-01T00:00:00Z' },
    fixed_charges: { to: '2024-04-01T00:00:00Z', from: '2024-03-01T00:00:00Z' },
    invoicing_reason: 'subscription_periodic',
    charges_duration_days: 31,
  },
};
const DIGEST_OF_BEFORE = '13eb7b305acb02c9572f67e91aa2d7aff41a5ea6791906548a063044d69f95f4';

test('inputs as they were stored before are verified and explained as before (VS2)', async () => {
  const { story, invoice } = await monthEnd();
  const explain = (fee: Invoice) => story.client.get(`/fees/${fee.svc_id}/explanation`);
  const before = await Promise.all(invoice.fees.map(explain));
  for (const { fee_id, inputs, shared_inputs } of await rowsOf(story))
    await service.sql`
      update fee_inputs set inputs = ${json(wholeInputs(inputs, shared_inputs))}, shared_with = null,
        shared_inputs = null
      where fee_id = ${fee_id} and shared_inputs is null`;
  await service.sql`
    update fee_inputs stored set shared_with = null, shared_inputs = null, inputs = ${json(ROW_OF_BEFORE)},
      digest = decode(${DIGEST_OF_BEFORE}, 'hex')
    where organization_id = ${story.organizationId} and shared_with = fee_id`;
  expect(await verify(story, invoice)).toMatchObject({ status: 'equal', differences: [] });
  const after = await Promise.all(invoice.fees.map(explain));
  expect(after.map(({ body }) => body)).toEqual(before.map(({ body }) => body));
});

test('a shared field that is changed by hand is found with every fee that has it (VS3)', async () => {
  const { story, invoice } = await monthEnd();
  await service.sql`
    update fee_inputs set shared_inputs = jsonb_set(shared_inputs, '{window,timezone}', '"Asia/Tokyo"')
    where organization_id = ${story.organizationId} and shared_inputs is not null`;
  const { status, differences } = await verify(story, invoice);
  expect(status).toBe('different');
  const found = differences.filter(({ cause }: Invoice) => cause === 'inputs_digest_mismatch');
  expect(new Set(found.map(({ path }: Invoice) => path)).size).toBeGreaterThanOrEqual(CHARGES);
});

test('a draft is computed again and becomes final, and its inputs are shared again', async () => {
  const { story, invoice } = await monthEnd([], 3);
  expect(invoice.status).toBe('draft');
  const before = await rowsOf(story);
  expect((await story.client.put(`/invoices/${invoice.svc_id}/refresh`, {})).status).toBe(200);
  expect((await story.client.put(`/invoices/${invoice.svc_id}/finalize`, {})).status).toBe(200);
  const after = await rowsOf(story);
  expect(after).toHaveLength(CHARGES + 1);
  expect(after.filter(({ fee_id }) => before.some((row) => row.fee_id === fee_id))).toEqual([]);
  expect(new Set(after.map(({ shared_with }) => shared_with)).size).toBe(2);
  expect(await verify(story, invoice)).toMatchObject({ status: 'equal', compared: { fees: CHARGES + 1 } });
});

test('the fee that keeps what others have in common cannot be deleted without them', async () => {
  const { story } = await monthEnd();
  const keeper = service.sql`
    delete from fee_inputs where organization_id = ${story.organizationId} and shared_inputs is not null`;
  await expect(keeper).rejects.toThrow('fee_inputs_shared_with_fkey');
});
