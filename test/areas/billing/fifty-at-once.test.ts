import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { auditFull } from '../../../src/areas/reporting/audit-books/jobs.ts';
import { createLog } from '../../../src/platform/log/log.ts';
import { createProducer } from '../../../src/platform/queue/producer.ts';
import { reactions } from '../../../src/reactions.ts';
import { startService, type TestService } from '../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../support/story.ts';
import { until } from '../../support/until.ts';
import { ok } from '../../support/words.ts';

// Fifty attempts at once have one effect each, and the auditor finds nothing wrong after all of it with what they
// leave.
const ATTEMPTS = 50;
let service: TestService;
let story: Story;

beforeAll(async () => {
  service = await startService();
  story = await openStory(service, '2024-02-01T00:00:00Z');
  await story.plan({ amount_cents: 600 });
  for (const external_id of ['coupons', 'notes']) {
    await story.customer({ external_id, billing_configuration: { invoice_grace_period: 3 } });
    for (const each of ['a', 'b']) {
      const names = { external_customer_id: external_id, external_id: `${external_id}-${each}` };
      expect((await story.subscribe({ ...names, consolidate_invoice: false })).status).toBe(200);
    }
  }
  await story.customer({ external_id: 'wallets' });
  await story.advanceTo('2024-03-01T02:00:00Z');
});
afterAll(() => service.stop());

type Answer = Awaited<ReturnType<Story['client']['post']>>;
const atOnce = (attempt: (at: number) => Promise<Answer>): Promise<Answer[]> =>
  Promise.all(Array.from({ length: ATTEMPTS }, (_, at) => attempt(at)));
const succeeded = (answers: readonly Answer[]) => answers.filter(({ status }) => status === 200);
/** Makes the two drafts of a customer final, many times at once. */
async function finalizeBoth(customer: string): Promise<Invoice[]> {
  const drafts = await story.invoices(2, customer);
  expect(drafts.map(({ status }) => status)).toEqual(['draft', 'draft']);
  await atOnce((at) => story.client.put(`/invoices/${drafts[at % 2].svc_id}/finalize`));
  const ids = new Set(drafts.map(({ svc_id }) => svc_id));
  const list = await ok(story.client.get(`/customers/${customer}/invoices`));
  return list.invoices.filter(({ svc_id }: Invoice) => ids.has(svc_id));
}
const sums = (invoices: readonly Invoice[], key: string): number[] =>
  invoices.map((invoice) => invoice[key]).sort((a: number, b: number) => b - a);

test('one coupon used by two invoices at the same time gives its amount once', async () => {
  const coupon = {
    name: 'Once',
    code: 'once',
    coupon_type: 'fixed_amount',
    amount_cents: 1000,
    amount_currency: 'USD',
  };
  await ok(story.client.post('/coupons', { coupon: { ...coupon, frequency: 'once', expiration: 'no_expiration' } }));
  const applied = { external_customer_id: 'coupons', coupon_code: 'once' };
  await ok(story.client.post('/applied_coupons', { applied_coupon: applied }));
  const invoices = await finalizeBoth('coupons');
  expect(invoices.map(({ status }) => status)).toEqual(['finalized', 'finalized']);
  expect(sums(invoices, 'coupons_amount_cents')).toEqual([600, 400]);
  const list = await ok(story.client.get('/applied_coupons?external_customer_id=coupons'));
  expect(list.applied_coupons).toMatchObject([{ status: 'terminated', amount_cents_remaining: 0 }]);
});

describe('one credit note', () => {
  let note: Invoice;
  let spentOn: Invoice;

  const balance = async () => (await ok(story.client.get(`/credit_notes/${note.svc_id}`))).credit_note;

  test('one credit note used by two invoices at the same time is spent once', async () => {
    const bought = await story.oneOff(1000, 'notes');
    await ok(story.pay(bought.svc_id, 1000));
    note = (await ok(story.credit(bought, 1000))).credit_note;
    const list = await ok(story.client.get('/customers/notes/invoices?invoice_type=subscription'));
    const drafts = list.invoices.filter(({ status }: Invoice) => status === 'draft');
    await atOnce((at) => story.client.put(`/invoices/${drafts[at % 2].svc_id}/finalize`));
    const invoices = await Promise.all(
      drafts.map(async ({ svc_id }: Invoice) => (await ok(story.client.get(`/invoices/${svc_id}`))).invoice),
    );
    expect(sums(invoices, 'credit_notes_amount_cents')).toEqual([600, 400]);
    expect(await balance()).toMatchObject({ credit_status: 'consumed', balance_amount_cents: 0 });
    spentOn = invoices.find(({ credit_notes_amount_cents: spent }) => spent === 600);
  });

  test('a credit note is restored once when its invoice is voided many times at the same time', async () => {
    const answers = await atOnce(() => story.client.post(`/invoices/${spentOn.svc_id}/void`));
    expect(succeeded(answers)).toHaveLength(1);
    const refused = answers.filter(({ status }) => status !== 200).map(({ body }) => body.code);
    expect(new Set(refused)).toEqual(new Set(['not_voidable']));
    expect(await balance()).toMatchObject({ credit_status: 'available', balance_amount_cents: 600 });
  });
});

describe('one wallet', () => {
  let walletId: string;
  const wallet = async () => (await ok(story.client.get(`/wallets/${walletId}`))).wallet;
  const invoiceOf = (transaction: Invoice): Promise<Invoice> =>
    until(async () => {
      const { svc_invoice_id: id } = (await ok(story.client.get(`/wallet_transactions/${transaction.svc_id}`)))
        .wallet_transaction;
      return id ?? undefined;
    });

  test('fifty top-ups with one Idempotency-Key top the wallet up once', async () => {
    const made = { external_customer_id: 'wallets', name: 'w', rate_amount: '1', currency: 'USD' };
    walletId = (await ok(story.client.post('/wallets', { wallet: made }))).wallet.svc_id;
    const answers = await atOnce(() =>
      story.client.post(
        '/wallet_transactions',
        { wallet_transaction: { wallet_id: walletId, paid_credits: '10', granted_credits: '5' } },
        { headers: { 'Idempotency-Key': 'top-up-1' } },
      ),
    );
    expect(succeeded(answers)).toHaveLength(ATTEMPTS);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    const { meta } = await ok(story.client.get(`/wallets/${walletId}/wallet_transactions`));
    expect(meta.total_count).toBe(2);
    await until(async () => ((await wallet()).balance_cents === 500 ? true : undefined));
  });

  test('purchased credits are added once, however often their payment is reported', async () => {
    const list = await ok(story.client.get(`/wallets/${walletId}/wallet_transactions`));
    const bought = list.wallet_transactions.find(({ status }: Invoice) => status === 'pending');
    const invoiceId = await invoiceOf(bought);
    const told = { invoice: { payment_status: 'succeeded' } };
    await atOnce((at) =>
      at % 2 === 0 ? story.pay(invoiceId, 1000) : story.client.put(`/invoices/${invoiceId}`, told),
    );
    expect(await wallet()).toMatchObject({ balance_cents: 1500, credits_balance: '15.0' });
    const { payments } = await ok(story.client.get(`/payments?invoice_id=${invoiceId}`));
    expect(payments.length).toBeLessThanOrEqual(1);
  });

  test('a wallet gets back once what a voided invoice took', async () => {
    const plan = { code: 'advance', amount_cents: 700, pay_in_advance: true };
    await story.plan(plan);
    await story.subscribe({ external_customer_id: 'wallets', external_id: 'w', plan_code: 'advance' });
    const taken = await until(async () => {
      const { invoices } = await ok(story.client.get('/customers/wallets/invoices?invoice_type=subscription'));
      return invoices[0];
    });
    expect(taken).toMatchObject({ prepaid_credit_amount_cents: 700, total_amount_cents: 0 });
    const answers = await atOnce(() => story.client.post(`/invoices/${taken.svc_id}/void`));
    expect(succeeded(answers)).toHaveLength(1);
    expect(await wallet()).toMatchObject({ balance_cents: 1500, consumed_credits: '0.0' });
  });
});

test('the auditor finds nothing wrong after fifty attempts of everything at the same time', async () => {
  const producer = createProducer(service.redis, service.config.REDIS_PREFIX);
  try {
    const log = createLog({ level: 'silent', process: 'test' });
    const deps = { sql: service.sql, redis: service.redis, producer, config: service.config, reactions, log };
    await auditFull.sweep(deps, Temporal.Instant.from('2024-03-01T02:00:00Z'));
  } finally {
    await producer.close();
  }
  const { audit_findings: findings } = await ok(story.client.get('/audits/findings?per_page=100'));
  expect(findings.map(({ check, expected, actual }: Invoice) => [check, expected, actual])).toEqual([]);
});
