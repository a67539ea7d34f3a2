import { afterAll, beforeAll, expect, test } from 'vitest';
import { countStatements } from '../../support/count-statements.ts';
import { startService, type TestService } from '../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../support/story.ts';

// The journal over HTTP: ledger.md#routes.
let service: TestService;
let story: Story;
let invoices: Invoice[];

beforeAll(async () => {
  service = await startService();
  story = await openStory(service, '2024-02-01T00:00:00Z');
  await story.client.post('/taxes', { tax: { name: 'VAT', code: 'vat', rate: '20', applied_to_organization: true } });
  await story.customer();
  await story.customer({ external_id: '=evil, "inc"', currency: 'EUR' });
  await story.plan({ amount_cents: 10000 });
  await story.plan({ amount_cents: 500, code: 'euro', amount_currency: 'EUR' });
  await story.subscribe();
  await story.subscribe({ external_customer_id: '=evil, "inc"', external_id: 'e', plan_code: 'euro' });
  await story.advanceTo('2024-04-02T00:00:00Z');
  invoices = await story.invoices(2);
});
afterAll(() => service.stop());

const get = async (path: string) => {
  const { status, body } = await story.client.get(`/ledger${path}`);
  expect(status).toBe(200);
  return body;
};

test('ledger entries are listed in the order of the journal, filtered and paged', async () => {
  const { ledger_entries: entries, meta } = await get(`/entries?invoice_id=${invoices[0].svc_id}`);
  expect(meta.total_count).toBe(3);
  expect(entries[0]).toEqual({
    svc_id: expect.any(String),
    sequence: expect.any(Number),
    svc_transaction_id: expect.any(String),
    rule: 'invoice_finalized',
    booked_at: '2024-03-01T00:10:00Z',
    booked_on: '2024-03-01',
    document_date: '2024-03-01',
    billing_entity_code: expect.any(String),
    account_code: 'receivable',
    side: 'debit',
    amount_cents: 12000,
    currency: 'USD',
    external_customer_id: 'acme',
    svc_invoice_id: invoices[0].svc_id,
    svc_credit_note_id: null,
    svc_wallet_id: null,
    svc_payment_id: null,
    svc_fee_id: null,
    tax_code: null,
  });
  expect((await get('/entries?per_page=5')).meta).toMatchObject({ total_count: 12, total_pages: 3 });
  const after = await get(`/entries?after=${entries[2].sequence}&per_page=100`);
  expect(after.ledger_entries.every(({ sequence }: Invoice) => sequence > entries[2].sequence)).toBe(true);
  expect((await get('/entries?account_codes[]=tax_payable&currency=eur')).meta.total_count).toBe(2);
  expect((await get('/entries?booked_from=2024-03-02&booked_to=2024-04-01')).meta.total_count).toBe(6);
  expect((await get('/entries?invoice_id=nonsense')).meta.total_count).toBe(0);
  expect((await get('/entries?rules[]=invoice_voided')).meta.total_count).toBe(0);
});

test('a ledger transaction shows its lines', async () => {
  const { ledger_entries: entries } = await get(`/entries?invoice_id=${invoices[0].svc_id}`);
  const { ledger_transaction } = await get(`/transactions/${entries[0].svc_transaction_id}`);
  expect(ledger_transaction).toMatchObject({ rule: 'invoice_finalized', source_type: 'Invoice', currency: 'USD' });
  expect(ledger_transaction.lines).toEqual(entries);
  const missing = await story.client.get('/ledger/transactions/x');
  expect(missing.body).toMatchObject({ status: 404, resource: 'ledger_transaction' });
});

test('accounts and the trial balance are given for a day, an instant and now, by either basis', async () => {
  const { trial_balance: now } = await get('/trial_balance');
  expect(now.currencies).toEqual([
    {
      currency: 'EUR',
      rows: [
        { account_code: 'receivable', debit_cents: 1200, credit_cents: 0 },
        { account_code: 'revenue.subscription', debit_cents: 0, credit_cents: 1000 },
        { account_code: 'tax_payable', debit_cents: 0, credit_cents: 200 },
      ],
      total_debit_cents: 1200,
      total_credit_cents: 1200,
      balanced: true,
    },
    expect.objectContaining({ currency: 'USD', total_debit_cents: 24000, balanced: true }),
  ]);
  expect(now).toMatchObject({ at: '2024-04-02', basis: 'booked', as_of_sequence: expect.any(Number) });
  const { trial_balance: march } = await get('/trial_balance?at=2024-03-31&currency=USD');
  expect(march).toMatchObject({ at: '2024-03-31', currencies: [{ total_debit_cents: 12000 }] });
  expect((await get('/trial_balance?at=2024-03-01T00:09:59Z')).trial_balance.currencies).toEqual([]);
  expect((await get('/trial_balance?at=9999-12-31&currency=USD')).trial_balance.currencies).toMatchObject([
    { total_debit_cents: 24000 },
  ]);
  expect((await get('/trial_balance?at=2024-03-01T00:10:00Z&currency=USD')).trial_balance).toMatchObject({
    at: '2024-03-01T00:10:00Z',
    currencies: [{ total_debit_cents: 12000 }],
  });
  expect((await get('/trial_balance?at=2024-02-29&basis=document')).trial_balance.currencies).toEqual([]);
  const { ledger_accounts } = await get('/accounts?currency=USD');
  expect(ledger_accounts).toMatchObject([
    {
      code: 'receivable',
      kind: 'asset',
      normal_side: 'debit',
      debit_cents: 24000,
      credit_cents: 0,
      balance_cents: 24000,
    },
    { code: 'revenue.subscription', kind: 'income', normal_side: 'credit', balance_cents: 20000 },
    { code: 'tax_payable', kind: 'liability', normal_side: 'credit', balance_cents: 4000 },
  ]);
  expect((await story.client.get('/ledger/accounts?basis=x')).status).toBe(422);
});

test('the balance of a customer shows what is due and overdue by currency', async () => {
  const { status, body } = await story.client.get('/customers/acme/balance');
  expect(status).toBe(200);
  expect(body.customer_balance).toEqual({
    svc_customer_id: expect.any(String),
    external_customer_id: 'acme',
    currencies: [
      {
        currency: 'USD',
        due_amount_cents: 24000,
        overdue_amount_cents: 12000,
        credit_notes_amount_cents: 0,
        wallets_amount_cents: 0,
        unapplied_amount_cents: 0,
        refunds_payable_amount_cents: 0,
      },
    ],
  });
  expect((await story.client.get('/customers/nobody/balance')).body).toMatchObject({ resource: 'customer' });
});

test('the ledger export streams all entries as CSV that is safe for spreadsheets', async () => {
  const { text, headers } = await story.client.get('/ledger/entries?currency=EUR', { headers: { accept: 'text/csv' } });
  expect(headers['content-type']).toBe('text/csv; charset=utf-8');
  const lines = text.split('\r\n');
  expect(lines[0]).toBe(
    'sequence,transaction_id,rule,booked_at,booked_on,document_date,billing_entity,account,side,amount,amount_cents,currency,external_customer_id,invoice_number,credit_note_number,wallet_code,payment_reference,tax_code',
  );
  expect(lines).toHaveLength(8);
  expect(lines.at(-1)).toBe('');
  expect(lines[1]).toContain(`receivable,debit,6.00,600,EUR,"'=evil, ""inc""",`);
});

test('the journal is read in few statements, and rows are never changed', async () => {
  const counted = await countStatements(service, story.organizationId, 'findAllLedgerEntries', {
    now: '2024-04-02T00:00:00Z',
    query: {},
  });
  expect(counted.roundTrips).toBeLessThanOrEqual(6);
  await expect(service.sql`update ledger_entries set amount_cents = 1`).rejects.toThrow(/never changed/);
  await expect(service.sql`delete from ledger_transactions`).rejects.toThrow(/never changed/);
});
