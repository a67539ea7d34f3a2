import { afterAll, beforeAll, expect, test } from 'vitest';
import { insertError } from '../../../src/areas/invoices/invoices/writes.ts';
import { realNow } from '../../../src/platform/clock/real-clock.ts';
import { newId } from '../../../src/platform/ids.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

type Org = Awaited<ReturnType<TestService['org']>>;

/** More than one step of a run takes. */
const DRAFTS = 22;

let service: TestService;
let org: Org;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** A sandbox with a draft for each of its customers. */
async function withDrafts(count: number): Promise<string[]> {
  org = await service.org({ sandbox: true });
  await org.post('/test_clock', { test_clock: { frozen_time: '2026-01-10T00:00:00Z' } });
  await org.post('/plans', {
    plan: {
      name: 'P',
      code: 'p',
      interval: 'monthly',
      amount_cents: 1000,
      amount_currency: 'EUR',
      pay_in_advance: false,
    },
  });
  for (let index = 0; index < count; index += 1) {
    await org.post('/customers', {
      customer: { external_id: `c${index}`, billing_configuration: { invoice_grace_period: 5 } },
    });
    await org.post('/subscriptions', {
      subscription: { external_customer_id: `c${index}`, plan_code: 'p', external_id: `s${index}` },
    });
  }
  await org.post('/test_clock/advance', { test_clock: { frozen_time: '2026-02-01T12:00:00Z' } });
  await until(async () => (await org.get('/test_clock')).body.test_clock.status === 'ready');
  const drafts = await invoices('draft');
  expect(drafts).toHaveLength(count);
  return drafts;
}

const invoices = async (status: string): Promise<string[]> =>
  (await org.get(`/invoices?per_page=100&status=${status}`)).body.invoices
    .map((invoice: { svc_id: string }) => invoice.svc_id)
    .sort();

test('one run finalizes all drafts and gives out every number once', { timeout: 90_000 }, async () => {
  await withDrafts(DRAFTS);
  const { status, body } = await org.post('/invoices/finalize_all');
  expect(status).toBe(200);
  expect(body.run).toMatchObject({ error: null, result: null });
  await until(async () => (await invoices('draft')).length === 0);
  const shown = await until(async () => {
    const read = (await org.get(`/invoices/runs/${body.run.svc_id}`)).body.run;
    return read.status === 'running' ? undefined : read;
  });
  expect(shown).toMatchObject({
    svc_id: body.run.svc_id,
    status: 'succeeded',
    progress: { done: DRAFTS, total: DRAFTS, percent: 100 },
    finished_at: expect.any(String),
  });
  const rows = await service.sql<{ number: string }[]>`
    select number from invoices where organization_id = ${org.organization.organization_id}`;
  expect(new Set(rows.map(({ number }) => number)).size).toBe(DRAFTS);
  const [run] = await service.sql`
    select status, done, total from runs where organization_id = ${org.organization.organization_id}`;
  expect(run).toEqual({ status: 'succeeded', done: DRAFTS, total: DRAFTS });
});

test('a run finalizes the drafts that its filters select, and its first error ends it and names the invoice', async () => {
  const drafts = await withDrafts(4);
  const one = await org.post('/invoices/finalize_all?external_customer_id=c0');
  expect(one.body.run).toMatchObject({ status: 'succeeded', progress: { done: 1, total: 1, percent: 100 } });
  const left = (await invoices('draft')).filter((id) => drafts.includes(id));
  expect(left).toHaveLength(3);
  await service.sql`update invoices set tax_status = 'pending' where id = ${left[1]!}`;
  const { body } = await org.post('/invoices/finalize_all');
  expect(body.run).toMatchObject({
    status: 'failed',
    progress: { done: 1, total: 3 },
    error: { code: 'cannot_finalize_with_pending_taxes', svc_resource_id: left[1] },
  });
  expect((await org.get(`/invoices/runs/${body.run.svc_id}`)).body).toEqual(body);
  expect(await invoices('draft')).toEqual(left.slice(1));
  expect((await org.post('/invoices/finalize_all?billing_entity_codes[]=none')).body.resource).toBe('billing_entity');
});

test('a run retries all failed invoices', async () => {
  const drafts = await withDrafts(2);
  await service.sql`update invoices set status = 'failed' where id = any (${drafts})`;
  const { body } = await org.post('/invoices/retry_all');
  expect(body.run).toMatchObject({ status: 'succeeded', progress: { done: 2, total: 2 } });
  await until(async () => (await invoices('finalized')).length === 2);
  expect((await org.get(`/invoices/runs/${body.run.svc_id}`)).body).toEqual(body);
  const stranger = await service.org();
  for (const id of [body.run.svc_id, 'x'])
    expect((await stranger.get(`/invoices/runs/${id}`)).body).toMatchObject({ status: 404, resource: 'run' });
});

test('whether a failed invoice is retried depends on its error code, not on the text of the error', {
  timeout: 90_000,
}, async () => {
  const [limited, unnumbered, broken, absurd] = await withDrafts(4);
  const failed = [
    { invoice_id: limited!, reason: 'api_limit', details: { tax_error: 'too many requests' } },
    { invoice_id: unnumbered!, reason: 'number_not_assigned', details: {} },
    { invoice_id: broken!, reason: null, details: { tax_error: 'the country is off limits' } },
    { invoice_id: absurd!, reason: 'amount_out_of_range', details: { number: 'beyond 2^53' } },
  ] as const;
  for (const { invoice_id, reason, details } of failed) {
    await service.sql`update invoices set status = 'failed' where id = ${invoice_id}`;
    await insertError(
      { db: service.sql, organizationId: org.organization.organization_id },
      {
        id: newId(),
        invoice_id,
        error_code: 'tax_error',
        reason,
        details,
        created_at: realNow(),
      },
    );
  }
  await org.post('/test_clock/advance', { test_clock: { frozen_time: '2026-02-01T12:16:00Z' } });
  await until(async () => (await invoices('finalized')).length === 2);
  expect((await invoices('failed')).sort()).toEqual([broken, absurd].sort());
});
