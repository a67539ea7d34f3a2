import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bill, billCustomer } from '../../../../src/areas/billing/bill-subscriptions/bill.ts';
import { billStep } from '../../../../src/areas/billing/bill-subscriptions/bill-after-change.ts';
import { activate } from '../../../../src/areas/billing/bill-subscriptions/start-pending.ts';
import { terminateEnded } from '../../../../src/areas/billing/bill-subscriptions/terminate-ended.ts';
import { canonicalDigest } from '../../../../src/platform/canonical-json.ts';
import type { Context } from '../../../../src/platform/context.ts';
import { createLog } from '../../../../src/platform/log/log.ts';
import { systemTransaction } from '../../../../src/platform/records/system-transaction.ts';
import { reactions } from '../../../../src/reactions.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { openStory, type Story } from '../../../support/story.ts';

// What must hold whoever bills, however often (invoices.md#guarantees-of-the-storage, invoices.md#numbers,
// invoice-verification.md#stored-inputs, ledger.md).
let service: TestService;
beforeAll(async () => {
  // Fifty writes at once wait for each other: a busy machine takes its time.
  service = await startService();
});
afterAll(() => service.stop());

/** Work at an instant of its own, beside the service: as many at once as asked. */
const at = (story: Story, now: string, work: (ctx: Context) => Promise<unknown>) =>
  systemTransaction(
    {
      sql: service.sql,
      config: service.config,
      reactions,
      log: createLog({ level: 'silent', process: 'test' }),
      producer: null as never,
    },
    { id: story.organizationId, sandbox: true },
    async () => Temporal.Instant.from(now),
    async (ctx) => {
      await work(ctx);
    },
  );

const customerId = async (story: Story): Promise<string> => {
  const [row] = await service.sql<
    { id: string }[]
  >`select id from customers where organization_id = ${story.organizationId}`;
  return row!.id;
};

test('ten sweeps at the same time make one invoice', async () => {
  const story = await openStory(service, '2024-02-01T00:00:00Z');
  await story.customer();
  await story.plan({ amount_cents: 3100 });
  await story.subscribe();
  await story.subscribe({ external_id: 'second' });
  const id = await customerId(story);
  const tick = Temporal.Instant.from('2024-03-01T00:10:00Z');
  await Promise.all(
    Array.from({ length: 10 }, () => at(story, '2024-03-01T00:10:00Z', (ctx) => billCustomer(ctx, id, tick))),
  );
  const [invoice] = await story.invoices(1);
  expect(invoice.billing_periods).toHaveLength(2);
  const { items } = await bill.select(service.sql, tick, { organizationId: story.organizationId }, { limit: 10 });
  expect(items).toEqual([]);
});

test('a billing step that runs again bills nothing again', async () => {
  const story = await openStory(service, '2024-03-05T00:00:00Z');
  await story.customer();
  await story.plan({ amount_cents: 1000, pay_in_advance: true });
  const made = await story.subscribe();
  await story.invoices(1);
  const step = {
    lines: [{ subscription_id: made.body.subscription.svc_id as string, reason: 'subscription_starting' as const }],
    at: '2024-03-05T00:00:00Z',
  };
  await at(story, '2024-03-05T00:00:00Z', (ctx) => billStep(ctx, step));
  await story.invoices(1);
  const [count] = await service.sql`select count(*) from invoices where organization_id = ${story.organizationId}`;
  expect(count!.count).toBe(1);
});

test('missed local days are caught up in order, each with the timestamp of its first tick', async () => {
  const story = await openStory(service, '2024-01-15T00:00:00Z');
  await story.customer({ timezone: 'Europe/Paris' });
  await story.plan({ amount_cents: 3100 });
  await story.subscribe();
  const id = await customerId(story);
  const late = '2024-04-10T08:10:00Z';
  await at(story, late, (ctx) => billCustomer(ctx, id, Temporal.Instant.from(late)));
  const lines = await service.sql`
    select billed_at, billed_on, from_datetime, to_datetime from invoice_subscriptions
    where organization_id = ${story.organizationId} order by billed_at`;
  expect(lines.map((line) => [line.billed_at.toString(), line.billed_on.toString()])).toEqual([
    ['2024-01-31T23:10:00Z', '2024-02-01'],
    ['2024-02-29T23:10:00Z', '2024-03-01'],
    ['2024-03-31T22:10:00Z', '2024-04-01'],
  ]);
  const invoices = await story.invoices(3);
  expect(invoices.map((invoice) => [invoice.issuing_date, invoice.total_amount_cents])).toEqual([
    ['2024-02-01', 1700],
    ['2024-03-01', 3100],
    ['2024-04-01', 3100],
  ]);
  const [next] = await service.sql`
    select next_billing_at from subscriptions where organization_id = ${story.organizationId}`;
  expect(next!.next_billing_at.toString()).toBe('2024-04-30T22:00:00Z');
});

test.each(['per_customer', 'per_billing_entity'])(
  'fifty invoices made at the same time are numbered without gaps or duplicates by the setting %s',
  async (document_numbering) => {
    const story = await openStory(service, '2024-02-01T00:00:00Z');
    const { body } = await story.client.get('/billing_entities');
    await story.client.put(`/billing_entities/${body.billing_entities[0].code}`, {
      billing_entity: { document_numbering },
    });
    await story.plan({ amount_cents: 3100 });
    await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        story.subscribe({ external_customer_id: `c${index}`, external_id: `s${index}` }),
      ),
    );
    const tick = Temporal.Instant.from('2024-03-01T00:10:00Z');
    const reach = { organizationId: story.organizationId };
    const { items: due } = await bill.select(service.sql, tick, reach, { limit: 100 });
    expect(due).toHaveLength(50);
    await Promise.all(due.map(({ item }) => at(story, '2024-03-01T00:10:00Z', (ctx) => bill.work(ctx, item, tick))));
    const invoices = await service.sql`
    select number, sequential_id, billing_entity_sequential_id from invoices
    where organization_id = ${story.organizationId} and status = 'finalized'`;
    expect(new Set(invoices.map((row) => row.number)).size).toBe(50);
    expect(invoices.every((row) => row.sequential_id === 1)).toBe(true);
    if (document_numbering === 'per_billing_entity') {
      const sequence = invoices.map((row) => row.billing_entity_sequential_id).sort((a, b) => a - b);
      expect(sequence).toEqual(Array.from({ length: 50 }, (_, index) => index + 1));
    }
  },
);

test('a final invoice is booked, and its inputs are stored', async () => {
  const story = await openStory(service, '2024-02-01T00:00:00Z');
  await story.client.post('/taxes', { tax: { name: 'VAT', code: 'vat', rate: '20', applied_to_organization: true } });
  await story.customer();
  await story.plan({ amount_cents: 10000 });
  await story.subscribe();
  await story.advanceTo('2024-03-02T00:00:00Z');
  const [invoice] = await story.invoices(1);
  const entries = await service.sql`
    select account_code, side, amount_cents, tax_code from ledger_entries
    where organization_id = ${story.organizationId} order by position`;
  expect([...entries]).toEqual([
    { account_code: 'receivable', side: 'debit', amount_cents: 12000, tax_code: null },
    { account_code: 'revenue.subscription', side: 'credit', amount_cents: 10000, tax_code: null },
    { account_code: 'tax_payable', side: 'credit', amount_cents: 2000, tax_code: 'vat' },
  ]);
  const stored = await service.sql`
    select engine_version, inputs, digest from fee_inputs where organization_id = ${story.organizationId}
    union all
    select engine_version, inputs, digest from invoice_inputs where invoice_id = ${invoice.svc_id}`;
  expect(stored).toHaveLength(2);
  for (const row of stored) {
    expect(row.engine_version).toBe(1);
    expect(canonicalDigest(row.inputs).equals(row.digest)).toBe(true);
  }
  const [snapshot] = await service.sql`select customer_snapshot from invoices where id = ${invoice.svc_id}`;
  expect(snapshot!.customer_snapshot).toMatchObject({ external_id: 'acme' });
});

test('a partner is billed by a self-billed invoice, and the journal books it on the other side', async () => {
  const story = await openStory(service, '2024-02-01T00:00:00Z');
  await story.customer({ account_type: 'partner' });
  await story.plan({ amount_cents: 10000 });
  await story.subscribe();
  await story.advanceTo('2024-03-02T00:00:00Z');
  const [invoice] = await story.invoices(1);
  expect(invoice.self_billed).toBe(true);
  const entries = await service.sql`
    select account_code, side, amount_cents from ledger_entries
    where organization_id = ${story.organizationId} order by position`;
  expect([...entries]).toEqual([
    { account_code: 'partner_payable', side: 'credit', amount_cents: 10000 },
    { account_code: 'partner_costs', side: 'debit', amount_cents: 10000 },
  ]);
});

test('a customer who moves to an earlier time zone is billed on the new local day without gap or overlap', async () => {
  const story = await openStory(service, '2024-02-01T00:00:00Z');
  await story.customer();
  await story.plan({ amount_cents: 3100 });
  await story.subscribe();
  await story.advanceTo('2024-03-10T00:00:00Z');
  await story.customer({ timezone: 'Asia/Tokyo' });
  await story.advanceTo('2024-04-02T00:00:00Z');
  const [, april] = await story.invoices(2);
  expect(april).toMatchObject({ created_at: '2024-03-31T15:10:00Z', total_amount_cents: 3100 });
  expect(april.billing_periods[0]).toMatchObject({
    charges_from_datetime: '2024-03-01T00:00:00Z',
    charges_to_datetime: '2024-03-31T14:59:59Z',
  });
});

test('ticks of real time skip organizations with a test clock and select the others', async () => {
  const story = await openStory(service, '2024-02-01T00:00:00Z');
  await story.customer();
  await story.plan({ amount_cents: 3100 });
  await story.subscribe();
  const org = await service.org();
  await org.post('/plans', {
    plan: { name: 'P', code: 'p', interval: 'monthly', amount_cents: 1, amount_currency: 'USD', pay_in_advance: false },
  });
  await org.post('/subscriptions', {
    subscription: { external_customer_id: 'c', external_id: 's', plan_code: 'p', ending_at: '2098-01-01T00:00:00Z' },
  });
  await org.post('/subscriptions', {
    subscription: {
      external_customer_id: 'c',
      external_id: 'later',
      plan_code: 'p',
      subscription_at: '2098-01-01T00:00:00Z',
    },
  });
  const later = Temporal.Instant.from('2099-01-01T00:10:00Z');
  for (const job of [bill, activate, terminateEnded]) {
    const { items: due } = await job.select(service.sql, later, 'real-time', { limit: 100 });
    expect(due.map((item) => item.organization_id)).toEqual([org.organization.organization_id]);
  }
});
