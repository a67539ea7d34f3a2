import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startService, type TestService } from '../../support/service.ts';
import { openStory, type Story } from '../../support/story.ts';
import { until } from '../../support/until.ts';
import { ok } from '../../support/words.ts';

// Top-ups whose debit the bank takes back: top-ups.md#top-ups-taken-back, ledger.md#l12, ledger.md#l17.
let service: TestService;
let story: Story;

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
type Loose = any;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

beforeEach(async () => {
  story = await openStory(service, '2024-05-01T10:00:00Z');
  await ok(
    story.client.post('/payment_providers', { payment_provider: { type: 'sandbox', code: 'test', name: 'Test' } }),
  );
  await story.customer({ billing_configuration: { payment_provider: 'stripe', sync_with_provider: true } });
  // Pays after three days, and is returned two days later.
  await store({ iban: 'DE35 3704 0044 0532 0130 02' });
});

const store = (method: object) => ok(story.client.post('/customers/acme/payment_methods', { payment_method: method }));
const walletOf = async (id: string): Promise<Loose> => (await ok(story.client.get(`/wallets/${id}`))).wallet;
const read = async (id: string): Promise<Loose> => (await ok(story.client.get(`/invoices/${id}`))).invoice;
const notesOf = async (): Promise<Loose[]> =>
  (await ok(story.client.get('/credit_notes?external_customer_id=acme'))).credit_notes;
/** What the accounts hold by now: their debits less their credits. */
const balances = async (): Promise<Record<string, number>> => {
  const rows = await service.sql<{ account_code: string; balance: number }[]>`
    select account_code, sum(case side when 'debit' then amount_cents else -amount_cents end)::bigint as balance
    from ledger_entries where organization_id = ${story.organizationId} group by account_code`;
  return Object.fromEntries(rows.filter(({ balance }) => balance !== 0).map((row) => [row.account_code, row.balance]));
};

/** A wallet into which 50.00 were paid by a debit that will be returned; the top-up's invoice. */
async function toppedUp(): Promise<{ id: string; invoiceId: string }> {
  const { wallet } = await ok(
    story.client.post('/wallets', { wallet: { external_customer_id: 'acme', rate_amount: '1', currency: 'USD' } }),
  );
  const { wallet_transactions: made } = await ok(
    story.client.post('/wallet_transactions', { wallet_transaction: { wallet_id: wallet.svc_id, paid_credits: '50' } }),
  );
  const [{ svc_invoice_id: invoiceId }] = made;
  await until(async () => {
    const { payments } = await ok(story.client.get(`/payments?invoice_id=${invoiceId}`));
    return payments[0]?.payment_status === 'processing' || undefined;
  });
  await story.advanceTo('2024-05-04T11:00:00Z');
  expect((await walletOf(wallet.svc_id)).balance_cents).toBe(5000);
  return { id: wallet.svc_id, invoiceId };
}

/** A plan in advance whose invoice the wallet pays. */
async function spend(cents: number): Promise<void> {
  await ok(
    story.client.post('/plans', {
      plan: {
        name: 'Basic',
        code: 'basic',
        interval: 'yearly',
        amount_cents: cents,
        amount_currency: 'USD',
        pay_in_advance: true,
      },
    }),
  );
  await ok(
    story.client.post('/subscriptions', {
      subscription: {
        external_customer_id: 'acme',
        external_id: 'sub',
        plan_code: 'basic',
        billing_time: 'anniversary',
      },
    }),
  );
  await until(async () => {
    const { invoices } = await ok(story.client.get('/invoices?invoice_type=subscription'));
    return invoices[0]?.prepaid_credit_amount_cents === cents || undefined;
  });
}

// Golden case FI24: 5000 by debit, 3000 used, reversed: offset note 2000, due 3000.
test.each([
  // spent, offset, due, balance, status of the invoice
  [3000, 2000, 3000, 0, 'failed'],
  [0, 5000, 0, 0, 'succeeded'],
  [5000, 0, 5000, 0, 'failed'],
])(
  'FI24 of 5000 by debit %i are used, the rest is offset: %i, and %i stay due',
  async (spent, offset, due, left, status) => {
    const { id, invoiceId } = await toppedUp();
    if (spent > 0) await spend(spent);
    await story.advanceTo('2024-05-06T11:00:00Z');
    expect(await read(invoiceId)).toMatchObject({
      payment_status: status,
      total_paid_amount_cents: 0,
      total_due_amount_cents: due,
    });
    expect(await walletOf(id)).toMatchObject({ balance_cents: left, credits_balance: `${left}.0` });
    const notes = await notesOf();
    expect(notes.map((each) => [each.offset_amount_cents, each.refund_amount_cents, each.credit_amount_cents])).toEqual(
      offset > 0 ? [[offset, 0, 0]] : [],
    );
    // What was spent is revenue that nobody has paid for; the bought credits are gone, and so is the money.
    expect(await balances()).toEqual(spent > 0 ? { receivable: due, 'revenue.subscription': -spent } : {});
  },
);

test('what stays due of a top-up that was taken back can be paid, and gives no credits again', async () => {
  const { id, invoiceId } = await toppedUp();
  await spend(3000);
  await story.advanceTo('2024-05-06T11:00:00Z');
  await store({ card_number: '4242424242424242' });
  await ok(story.client.post(`/invoices/${invoiceId}/retry_payment`));
  await until(async () => (await read(invoiceId)).payment_status === 'succeeded' || undefined);
  expect(await read(invoiceId)).toMatchObject({ total_paid_amount_cents: 3000, total_due_amount_cents: 0 });
  expect((await walletOf(id)).balance_cents).toBe(0);
  expect(await balances()).toEqual({ cash: 3000, 'revenue.subscription': -3000 });
});

test('credits that were spent cannot be offset by hand', async () => {
  const { invoiceId } = await toppedUp();
  await spend(5000);
  await story.advanceTo('2024-05-06T11:00:00Z');
  const { fees } = await read(invoiceId);
  const { status, body } = await story.client.post('/credit_notes', {
    credit_note: {
      invoice_id: invoiceId,
      offset_amount_cents: 5000,
      items: [{ fee_id: fees[0].svc_id, amount_cents: 5000 }],
    },
  });
  expect([status, body.error_details]).toEqual([422, { amount_cents: ['higher_than_wallet_balance'] }]);
});
