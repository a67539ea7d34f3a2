import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../support/story.ts';
import { until } from '../../support/until.ts';

// Verification of issued invoices: invoice-verification.md with its golden cases.
let service: TestService;
let story: Story;
let invoice: Invoice;

beforeAll(async () => {
  service = await startService();
  story = await openStory(service, '2024-03-01T00:00:00Z');
  await story.client.post('/taxes', { tax: { name: 'VAT', code: 'vat', rate: '20', applied_to_organization: true } });
  await story.client.post('/taxes', {
    tax: { name: 'City', code: 'city', rate: '1.5', applied_to_organization: true },
  });
  await story.customer();
  const metric = async (code: string, fields: object): Promise<string> => {
    const made = await story.client.post('/billable_metrics', { billable_metric: { name: code, code, ...fields } });
    return made.body.billable_metric.svc_id;
  };
  const sum = await metric('calls', { aggregation_type: 'sum_agg', field_name: 'calls' });
  const unique = await metric('seats', { aggregation_type: 'unique_count_agg', field_name: 'seat', recurring: true });
  await story.plan({
    amount_cents: 999,
    charges: [
      {
        billable_metric_id: sum,
        charge_model: 'standard',
        properties: { amount: '0.333', pricing_group_keys: ['zone'] },
      },
      {
        billable_metric_id: unique,
        charge_model: 'graduated',
        prorated: true,
        properties: {
          graduated_ranges: [
            { from_value: 0, to_value: 1, per_unit_amount: '10', flat_amount: '2' },
            { from_value: 2, to_value: null, per_unit_amount: '5', flat_amount: '3' },
          ],
        },
      },
    ],
  });
  await story.subscribe();
  await send('a', 'calls', '2024-03-02T00:00:00Z', { calls: 5, zone: 'x' });
  await send('b', 'calls', '2024-03-03T00:00:00Z', { calls: 7, zone: 'y' });
  await send('c', 'calls', '2024-03-31T23:59:59Z', { calls: 9, zone: 'y' });
  await send('d', 'seats', '2024-03-10T00:00:00Z', { seat: 'one' });
  await send('e', 'seats', '2024-03-20T00:00:00Z', { seat: 'two' });
  await story.advanceTo('2024-04-02T00:00:00Z');
  [invoice] = await story.invoices(1);
});
afterAll(() => service.stop());

const send = async (id: string, code: string, at: string, properties: object) => {
  const event = {
    transaction_id: id,
    external_subscription_id: 'sub',
    code,
    timestamp: Date.parse(at) / 1000,
    properties,
  };
  expect((await story.client.post('/events', { event })).status).toBe(200);
};

async function verify(level?: 'inputs' | 'events'): Promise<Invoice> {
  const body = level === undefined ? undefined : { verification: { level } };
  const answer = await story.client.post(`/invoices/${invoice.svc_id}/verify`, body);
  expect(answer.status).toBe(200);
  return answer.body.verification;
}

const paths = (verification: Invoice) => verification.differences.map(({ path }: Invoice) => path).sort();
const feeOf = (code: string) => invoice.fees.find(({ item }: Invoice) => item.code === code);

test('verifying a fresh invoice finds no difference at both levels, and the result stays readable', async () => {
  const verification = await verify();
  expect(verification).toMatchObject({
    svc_invoice_id: invoice.svc_id,
    level: 'inputs',
    status: 'equal',
    engine_version: { stored: 1, current: 1 },
    compared: { fees: 4 },
    differences: [],
    not_verified: [],
    since: { events_added: 0, corrections: 0 },
  });
  expect(await verify('events')).toMatchObject({ status: 'equal', since: { events_added: 0, corrections: 0 } });
  const read = await story.client.get(`/verifications/${verification.svc_id}`);
  expect(read.body.verification).toEqual(verification);
  expect((await story.client.get(`/invoices/${invoice.svc_id}`)).body.invoice.last_verification).toEqual({
    status: 'equal',
    level: 'events',
    verified_at: '2024-04-02T00:00:00Z',
  });
});

test('an edited price and a changed tax leave the verification of an issued invoice equal (VF2)', async () => {
  const plan = (await story.client.get('/plans/plan')).body.plan;
  await service.sql`update charges set properties = '{"amount":"99"}' where id = ${plan.charges[0].svc_id}`;
  await story.client.put('/taxes/vat', { tax: { rate: '25' } });
  expect(await verify('events')).toMatchObject({ status: 'equal' });
});

test('a verification reports late events and corrections as information, not as differences (VF3, VF6)', async () => {
  await send('late', 'calls', '2024-03-15T00:00:00Z', { calls: 100, zone: 'x' });
  const corrected = await story.client.post('/events/corrections', {
    correction: {
      kind: 'amend',
      reason: 'wrong',
      policy: 'ignore',
      external_subscription_id: 'sub',
      transaction_id: 'b',
      properties: { calls: 70, zone: 'x' },
    },
  });
  expect(corrected.status).toBe(200);
  const retracted = await story.client.post('/events/corrections', {
    correction: {
      kind: 'retract',
      reason: 'wrong',
      policy: 'ignore',
      external_subscription_id: 'sub',
      transaction_id: 'a',
    },
  });
  expect(retracted.status).toBe(200);
  for (const level of ['events', 'inputs', undefined] as const)
    expect(await verify(level)).toMatchObject({ status: 'equal', since: { events_added: 1, corrections: 2 } });
});

test.each([200_000, null])(
  'of an invoice with %s events, level inputs leaves unknown what arrived later, and level events becomes a run',
  async (count) => {
    const set = (value: number | null) => service.sql`
      update fee_inputs set events_watermark = events_watermark || ${JSON.stringify({ count: value })}::text::jsonb
      where fee_id = ${feeOf('calls').svc_id}`;
    await set(count);
    expect(await verify()).toMatchObject({ status: 'equal', since: null });
    expect((await verify('events')).status).toBe('pending');
    await set(3);
    expect(await verify()).toMatchObject({ since: { events_added: 1, corrections: 2 } });
  },
);

test('a verification names a raw event that was changed by hand', async () => {
  await service.sql`update events set properties = '{"calls":8,"zone":"y"}' where transaction_id = 'c'`;
  const verification = await verify('events');
  expect(verification.status).toBe('different');
  expect(verification.differences.every(({ cause }: Invoice) => cause === 'events_changed')).toBe(true);
  const fees = invoice.fees.filter(({ item }: Invoice) => item.code === 'calls');
  const ofY = fees.find(({ item }: Invoice) => item.grouped_by.zone === 'y');
  expect(paths(verification)).toEqual(
    [`fees[${fees[0].svc_id}].events.digest`, `fees[${ofY.svc_id}].usage.aggregated_units`].sort(),
  );
  expect(verification.differences.find(({ path }: Invoice) => path.endsWith('units'))).toMatchObject({
    stored: '16',
    computed: '15',
  });
  await service.sql`update events set properties = '{"calls":9,"zone":"y"}' where transaction_id = 'c'`;
});

test('a verification names a stored amount that was changed by hand, with the totals (VF4)', async () => {
  const fee = feeOf('plan');
  await service.sql`update fees set amount_cents = amount_cents + 1 where id = ${fee.svc_id}`;
  const verification = await verify();
  expect(verification.status).toBe('different');
  expect(verification.differences.every(({ cause }: Invoice) => cause === 'arithmetic')).toBe(true);
  expect(paths(verification)).toContain(`fees[${fee.svc_id}].amount_cents`);
  expect(paths(verification)).toContain('fees_amount_cents');
  await service.sql`update fees set amount_cents = amount_cents - 1 where id = ${fee.svc_id}`;
});

test('a verification names a tax of a fee or an invoice that was changed by hand', async () => {
  const fee = feeOf('plan');
  await service.sql`update fee_applied_taxes set amount_cents = 1 where fee_id = ${fee.svc_id} and tax_code = 'city'`;
  await service.sql`update invoice_applied_taxes set amount_cents = amount_cents + 5
    where invoice_id = ${invoice.svc_id} and tax_code = 'vat'`;
  expect(paths(await verify())).toEqual([
    'applied_taxes[vat].amount_cents',
    `fees[${fee.svc_id}].applied_taxes[city].amount_cents`,
  ]);
  await service.sql`update fee_applied_taxes set amount_cents = 15 where fee_id = ${fee.svc_id} and tax_code = 'city'`;
  await service.sql`update invoice_applied_taxes set amount_cents = amount_cents - 5
    where invoice_id = ${invoice.svc_id} and tax_code = 'vat'`;
  expect(await verify()).toMatchObject({ status: 'equal' });
});

test('a verification names stored inputs that were changed by hand (VF5)', async () => {
  const fee = feeOf('plan');
  await service.sql`
    update fee_inputs set inputs = jsonb_set(inputs, '{price,plan_amount_cents}', '998') where fee_id = ${fee.svc_id}`;
  const verification = await verify();
  expect(verification.status).toBe('different');
  expect(verification.differences[0]).toMatchObject({
    path: `fees[${fee.svc_id}].inputs`,
    cause: 'inputs_digest_mismatch',
  });
  await service.sql`delete from fee_inputs where fee_id = ${fee.svc_id}`;
  expect(await verify()).toMatchObject({ status: 'not_verifiable' });
});

test('a verification is refused for an invoice that is not issued and for other organizations', async () => {
  await service.sql`update invoices set status = 'draft' where id = ${invoice.svc_id}`;
  const draft = await story.client.post(`/invoices/${invoice.svc_id}/verify`);
  expect(draft.body).toMatchObject({ status: 405, code: 'invalid_status' });
  await service.sql`update invoices set status = 'finalized' where id = ${invoice.svc_id}`;
  const other = await service.org();
  expect((await other.post(`/invoices/${invoice.svc_id}/verify`)).body).toMatchObject({
    status: 404,
    resource: 'invoice',
  });
  expect((await story.client.get('/verifications/x')).body).toMatchObject({ status: 404, resource: 'verification' });
});

test('a run counts the events of more than 500 fees, and its id finds the result', async () => {
  const { client } = story;
  await client.post('/add_ons', {
    add_on: { name: 'Setup', code: 'setup', amount_cents: 100, amount_currency: 'USD' },
  });
  const fees = Array.from({ length: 501 }, () => ({ add_on_code: 'setup' }));
  const made = await client.post('/invoices', { invoice: { external_customer_id: 'acme', currency: 'USD', fees } });
  expect(made.status, made.text).toBe(200);
  const path = `/invoices/${made.body.invoice.svc_id}/verify`;
  expect((await client.post(path)).body.verification).toMatchObject({ status: 'equal', level: 'inputs' });
  const { verification } = (await client.post(path, { verification: { level: 'events' } })).body;
  expect(verification).toMatchObject({
    svc_invoice_id: made.body.invoice.svc_id,
    level: 'events',
    status: 'pending',
    progress: { done: 0, total: 501, percent: 0 },
    finished_at: null,
    error: null,
  });
  const result = await until(async () => {
    const read = (await client.get(`/verifications/${verification.svc_id}`)).body.verification;
    return read.status === 'pending' ? undefined : read;
  });
  expect(result).toMatchObject({
    svc_id: verification.svc_id,
    status: 'equal',
    compared: { fees: 501 },
    differences: [],
    progress: { done: 501, total: 501, percent: 100 },
  });
  expect((await client.get(`/invoices/${made.body.invoice.svc_id}`)).body.invoice.last_verification).toMatchObject({
    status: 'equal',
    level: 'events',
  });
});
