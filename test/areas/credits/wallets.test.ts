import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Client } from '../../support/client.ts';
import { countStatements } from '../../support/count-statements.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { type Words, wordsOf } from '../../support/words.ts';

let service: TestService;
let client: Client & { organization: { organization_id: string } };
let words: Words;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

let customers = 0;
async function customer(fields: object = {}): Promise<string> {
  client = await service.org();
  const external_id = `c${++customers}`;
  words = wordsOf(client);
  await words.customer({ external_id, currency: 'EUR', ...fields });
  return external_id;
}

const wallet = async (externalId: string, fields: object = {}) =>
  (
    await client.post('/wallets', {
      wallet: { external_customer_id: externalId, rate_amount: '1', currency: 'EUR', ...fields },
    })
  ).body.wallet;
const shown = async (id: string) => (await client.get(`/wallets/${id}`)).body.wallet;
const move = (walletId: string, fields: object, options?: object) =>
  client.post('/wallet_transactions', { wallet_transaction: { wallet_id: walletId, ...fields } }, options);
const transaction = async (id: string) => (await client.get(`/wallet_transactions/${id}`)).body.wallet_transaction;
const pay = (invoiceId: string, status = 'succeeded') =>
  client.put(`/invoices/${invoiceId}`, { invoice: { payment_status: status } });

/** Balances of the journal by account, debits less credits; and whether it balances as a whole. */
async function journal(): Promise<Record<string, number>> {
  const rows = await service.sql<{ account_code: string; balance: number }[]>`
    select account_code, sum(case side when 'debit' then amount_cents else -amount_cents end)::bigint as balance
    from ledger_entries where organization_id = ${client.organization.organization_id} group by 1 order by 1`;
  expect(rows.reduce((total, { balance }) => total + balance, 0)).toBe(0);
  return Object.fromEntries(rows.filter(({ balance }) => balance !== 0).map((row) => [row.account_code, row.balance]));
}

/** An invoice of one add-on does not use wallets; one of a subscription in advance does. */
async function subscribe(externalId: string, amountCents: number): Promise<void> {
  await words.plan({ amount_cents: amountCents, amount_currency: 'EUR', pay_in_advance: true });
  const external_id = `s${externalId}`;
  await words.subscribe({ external_customer_id: externalId, external_id, billing_time: 'anniversary' });
}
const invoiceOf = (externalId: string, type = 'subscription') =>
  until(async () => {
    const { body } = await client.get(`/invoices?external_customer_id=${externalId}&invoice_type=${type}`);
    return body.invoices[0];
  });

describe('refused wallets', () => {
  test.each([
    [{ rate_amount: '0' }, { rate_amount: ['value_is_out_of_range'] }],
    [{ priority: 51 }, { priority: ['value_is_invalid'] }],
    [{ paid_credits: 'x' }, { paid_credits: ['invalid_paid_credits', 'invalid_amount'] }],
    [{ granted_credits: '-1' }, { granted_credits: ['invalid_granted_credits', 'invalid_amount'] }],
    [{ rate_amount: '0.5', granted_credits: '0.009' }, { granted_credits: ['amount_rounds_to_zero'] }],
    [{ expiration_at: '2001-01-01T00:00:00Z' }, { expiration_at: ['invalid_date'] }],
    [
      { paid_top_up_min_amount_cents: 200, paid_top_up_max_amount_cents: 100 },
      { paid_top_up_max_amount_cents: ['must_be_greater_than_or_equal_min'] },
    ],
    [{ paid_top_up_min_amount_cents: 10000, paid_credits: '10' }, { paid_credits: ['amount_below_minimum'] }],
    [
      { applies_to: { fee_types: ['credit'] } },
      { allowed_fee_types: ['invalid_fee_types'], applies_to: ['invalid_limitations'] },
    ],
    [
      { applies_to: { billable_metric_codes: ['nope'] } },
      { billable_metrics: ['invalid_identifier'], applies_to: ['invalid_limitations'] },
    ],
    [
      { recurring_transaction_rules: [{ trigger: 'interval' }] },
      { recurring_transaction_rules: ['invalid_recurring_rule'] },
    ],
    [
      {
        recurring_transaction_rules: [
          { trigger: 'threshold', threshold_credits: '5', method: 'target', target_ongoing_balance: '4' },
        ],
      },
      { recurring_transaction_rules: ['invalid_recurring_rule'] },
    ],
    [
      {
        paid_top_up_min_amount_cents: 5000,
        recurring_transaction_rules: [{ trigger: 'interval', interval: 'weekly', paid_credits: '10' }],
      },
      { recurring_transaction_rules: ['invalid_recurring_rule'] },
    ],
    [
      { recurring_transaction_rules: [{ trigger: 'interval' }, { trigger: 'interval' }] },
      { recurring_transaction_rules: ['invalid_number_of_recurring_rules'] },
    ],
    [{ payment_method: { payment_method_type: 'cheque' } }, { payment_method: ['invalid_payment_method'] }],
  ])('a wallet with %j is refused', async (fields, details) => {
    const externalId = await customer();
    const { status, body } = await client.post('/wallets', {
      wallet: { external_customer_id: externalId, rate_amount: '1', currency: 'EUR', ...fields },
    });
    expect([status, body.error_details]).toEqual([422, details]);
  });

  test('unknown customers, a seventh wallet, a taken code and an ended wallet are refused', async () => {
    const externalId = await customer();
    const unknown = await client.post('/wallets', {
      wallet: { external_customer_id: 'nobody', rate_amount: '1', currency: 'EUR' },
    });
    expect(unknown.body.error_details).toEqual({ customer: ['customer_not_found'] });
    expect((await client.get('/wallets?external_customer_id=nobody')).status).toBe(404);
    expect((await client.post('/customers/nobody/wallets', { wallet: { rate_amount: '1' } })).status).toBe(404);
    const first = await wallet(externalId, { code: 'main' });
    const taken = await client.post('/wallets', {
      wallet: { external_customer_id: externalId, rate_amount: '1', currency: 'EUR', code: 'main' },
    });
    expect(taken.body.error_details).toEqual({ code: ['value_already_exist'] });
    for (const name of ['A', 'B', 'C', 'D', 'E']) await wallet(externalId, { name });
    const seventh = await client.post('/wallets', {
      wallet: { external_customer_id: externalId, rate_amount: '1', currency: 'EUR' },
    });
    expect(seventh.body.error_details).toEqual({ customer: ['wallet_limit_reached'] });

    expect((await client.delete(`/wallets/${first.svc_id}`)).body.wallet.status).toBe('terminated');
    expect((await client.delete(`/wallets/${first.svc_id}`)).status).toBe(200);
    const ended = await client.put(`/wallets/${first.svc_id}`, { wallet: { name: 'x' } });
    expect(ended.body.error_details).toEqual({ wallet_id: ['wallet_is_terminated'] });
    expect((await move(first.svc_id, { granted_credits: '1' })).body.error_details).toEqual({
      wallet_id: ['wallet_is_terminated'],
    });
  });

  test('refused wallet transactions', async () => {
    const { svc_id: id } = await wallet(await customer());
    await move(id, { granted_credits: '10' });
    const faults: [object, object][] = [
      [{ voided_credits: '11' }, { voided_credits: ['insufficient_credits'] }],
      [{ paid_credits: [] }, { paid_credits: ['invalid_paid_credits', 'invalid_amount'] }],
      [{ granted_credits: '1', metadata: {} }, { metadata: ['invalid_type'] }],
      [{ granted_credits: '1', metadata: [{ key: 'a' }] }, { metadata: ['invalid_key_value_pair'] }],
      [{ granted_credits: '1', metadata: [{ key: 'a', value: {} }] }, { metadata: ['nested_structure_not_allowed'] }],
      [{ granted_credits: '1', metadata: [{ key: 'k'.repeat(21), value: '' }] }, { metadata: ['key_too_long'] }],
      [{ granted_credits: '1', metadata: [{ key: 'k', value: 'v'.repeat(101) }] }, { metadata: ['value_too_long'] }],
      [{ granted_credits: '1', name: 1 }, { name: ['invalid_value'] }],
      [{ granted_credits: '1', name: 'n'.repeat(256) }, { name: ['too_long'] }],
      [{ granted_credits: '1', priority: 0 }, { priority: ['value_is_invalid'] }],
      [{ voided_transaction_id: 'x' }, { voided_transaction_id: ['wallet_transaction_not_found'] }],
    ];
    for (const [fields, details] of faults) expect((await move(id, fields)).body.error_details).toEqual(details);
    const unknown = await client.post('/wallet_transactions', {
      wallet_transaction: { wallet_id: 'x', paid_credits: '1' },
    });
    expect(unknown.body.error_details).toEqual({ wallet_id: ['wallet_not_found'] });
    expect((await move(id, { granted_credits: '0' })).body).toEqual({ wallet_transactions: [] });
  });
});

test('codes of wallets come from their names, and an update keeps absent fields', async () => {
  const externalId = await customer();
  const { svc_id: id, code } = await wallet(externalId, {
    name: 'My Wallet',
    applies_to: { fee_types: ['charge'] },
    recurring_transaction_rules: [{ trigger: 'interval', interval: 'weekly', paid_credits: '10' }],
    metadata: { a: 'b' },
  });
  expect(code).toBe('my_wallet');
  expect((await wallet(externalId)).code).toBe('default');
  const { body } = await client.put(`/customers/${externalId}/wallets/my_wallet`, {
    wallet: { name: 'Other', priority: 3 },
  });
  expect(body.wallet).toMatchObject({
    svc_id: id,
    name: 'Other',
    priority: 3,
    applies_to: { fee_types: ['charge'], billable_metric_codes: [] },
    metadata: { a: 'b' },
  });
  expect(body.wallet.recurring_transaction_rules).toHaveLength(1);
  const [rule] = body.wallet.recurring_transaction_rules;
  const changed = await client.put(`/wallets/${id}`, {
    wallet: { recurring_transaction_rules: [{ svc_id: rule.svc_id, trigger: 'interval', granted_credits: '4' }] },
  });
  expect(changed.body.wallet.recurring_transaction_rules).toMatchObject([
    { svc_id: rule.svc_id, interval: 'weekly', paid_credits: '10.0', granted_credits: '4.0' },
  ]);
  const none = await client.put(`/wallets/${id}`, { wallet: { recurring_transaction_rules: [] } });
  expect(none.body.wallet.recurring_transaction_rules).toEqual([]);
  expect((await client.put(`/wallets/${id}`, { wallet: { rate_amount: '2' } })).body.error_details).toEqual({
    rate_amount: ['value_is_frozen'],
  });

  await client.patch(`/wallets/${id}/metadata`, { metadata: { c: 'd' } });
  expect((await client.delete(`/customers/${externalId}/wallets/my_wallet/metadata/a`)).body).toEqual({
    metadata: { c: 'd' },
  });
  expect((await client.delete(`/wallets/${id}/metadata`)).body).toEqual({ metadata: null });
});

test('voided credits are gone, and the journal shows where they went (golden case 59)', async () => {
  const { svc_id: id } = await wallet(await customer(), { granted_credits: '100' });
  await until(async () => (await shown(id)).balance_cents === 10000 || undefined);
  await move(id, { voided_credits: '14.28444999' });
  expect(await shown(id)).toMatchObject({
    credits_balance: '85.71556',
    balance_cents: 8572,
    consumed_credits: '14.28444',
  });
  expect(await journal()).toEqual({ prepaid_granted: -8572, promotions: 8572 });
  await client.delete(`/wallets/${id}`);
  expect(await journal()).toEqual({});
});

test('a void may name the credits that it takes', async () => {
  const { svc_id: id } = await wallet(await customer());
  const [first] = (await move(id, { granted_credits: '30' })).body.wallet_transactions;
  const [second] = (await move(id, { granted_credits: '50' })).body.wallet_transactions;
  const tooMuch = await move(id, { voided_credits: '60', voided_transaction_id: second.svc_id });
  expect(tooMuch.body.error_details).toEqual({ amount_cents: ['exceeds_remaining_transaction_amount'] });
  await move(id, { voided_transaction_id: second.svc_id });
  expect([await transaction(first.svc_id), await transaction(second.svc_id)]).toMatchObject([
    { remaining_amount_cents: 3000 },
    { remaining_amount_cents: 0 },
  ]);
  const none = await move(id, { voided_transaction_id: second.svc_id });
  expect(none.body.error_details).toEqual({ voided_transaction_id: ['no_remaining_amount'] });
  const traced = await client.get(`/wallet_transactions/${second.svc_id}/consumptions`);
  expect(traced.body.wallet_transaction_consumptions).toMatchObject([{ amount_cents: 5000, credit_amount: '50.0' }]);
  expect((await client.get(`/wallet_transactions/${second.svc_id}/fundings`)).body.error_details).toEqual({
    transaction_type: ['invalid_transaction_type'],
  });
});

test('a refused payment leaves credits unusable, and a later payment settles them', async () => {
  const externalId = await customer();
  const { svc_id: id } = await wallet(externalId);
  const [bought] = (await move(id, { paid_credits: '20' })).body.wallet_transactions;
  await pay(bought.svc_invoice_id, 'failed');
  expect(await transaction(bought.svc_id)).toMatchObject({ status: 'failed', remaining_amount_cents: null });
  expect((await shown(id)).balance_cents).toBe(0);
  await pay(bought.svc_invoice_id);
  expect(await transaction(bought.svc_id)).toMatchObject({
    status: 'settled',
    failed_at: null,
    remaining_amount_cents: 2000,
  });
  expect((await shown(id)).balance_cents).toBe(2000);
  expect(await journal()).toEqual({ prepaid_purchased: -2000, unrecorded_receipts: 2000 });
});

test('a top-up invoice that must be paid first is hidden until then', async () => {
  const externalId = await customer();
  const { svc_id: id } = await wallet(externalId);
  const [bought] = (await move(id, { paid_credits: '20', invoice_requires_successful_payment: true })).body
    .wallet_transactions;
  expect(bought).toMatchObject({ status: 'pending', invoice_requires_successful_payment: true });
  expect((await client.get(`/invoices/${bought.svc_invoice_id}`)).status).toBe(404);
  expect(await journal()).toEqual({});
});

test('a void gives credits back as they were, and an unpaid top-up is voided with its invoice', async () => {
  const externalId = await customer();
  const { svc_id: id } = await wallet(externalId);
  const [bought] = (await move(id, { paid_credits: '4' })).body.wallet_transactions;
  await pay(bought.svc_invoice_id);
  await move(id, { granted_credits: '2' });
  await subscribe(externalId, 600);
  const invoice = await invoiceOf(externalId);
  expect(invoice).toMatchObject({
    prepaid_credit_amount_cents: 600,
    prepaid_granted_credit_amount_cents: 200,
    prepaid_purchased_credit_amount_cents: 400,
    total_amount_cents: 0,
    payment_status: 'succeeded',
  });
  expect(await shown(id)).toMatchObject({ balance_cents: 0, consumed_credits: '6.0' });
  expect(await journal()).toEqual({ unrecorded_receipts: 400, promotions: 200, 'revenue.subscription': -600 });

  await client.post(`/invoices/${invoice.svc_id}/void`);
  expect(await shown(id)).toMatchObject({ balance_cents: 600, consumed_credits: '0.0' });
  const { body } = await client.get(`/wallets/${id}/wallet_transactions?transaction_status=granted`);
  expect(body.wallet_transactions[0]).toMatchObject({ credit_amount: '6.0', svc_voided_invoice_id: invoice.svc_id });
  expect(await journal()).toEqual({
    unrecorded_receipts: 400,
    promotions: 200,
    prepaid_granted: -200,
    prepaid_purchased: -400,
  });

  const [unpaid] = (await move(id, { paid_credits: '7' })).body.wallet_transactions;
  await client.post(`/invoices/${unpaid.svc_invoice_id}/void`);
  expect(await transaction(unpaid.svc_id)).toMatchObject({ status: 'failed' });
  await client.post(`/invoices/${bought.svc_invoice_id}/void`);
  expect((await shown(id)).balance_cents).toBe(600);
  expect(await journal()).toEqual({
    unrecorded_receipts: 400,
    promotions: 200,
    prepaid_granted: -200,
    prepaid_purchased: -400,
  });
});

describe('wallets under concurrent requests', () => {
  const AT_ONCE = 50;
  const times = <Answer>(work: (index: number) => Promise<Answer>) =>
    Promise.all(Array.from({ length: AT_ONCE }, (_, index) => work(index)));

  test('50 top-ups with one Idempotency-Key are one', { timeout: 60_000 }, async () => {
    const externalId = await customer();
    const { svc_id: id } = await wallet(externalId);
    const answers = await times(() => move(id, { paid_credits: '10' }, { headers: { 'Idempotency-Key': 'once' } }));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ body }) => body.wallet_transactions[0].svc_id)).size).toBe(1);
    expect((await client.get(`/invoices?external_customer_id=${externalId}`)).body.meta.total_count).toBe(1);
    expect(await journal()).toEqual({ prepaid_pending: -1000, receivable: 1000 });
  });

  test('a wallet transaction reported as paid 50 times is settled once', { timeout: 60_000 }, async () => {
    const { svc_id: id } = await wallet(await customer());
    const [bought] = (await move(id, { paid_credits: '10' })).body.wallet_transactions;
    await times((index) => pay(bought.svc_invoice_id, index % 2 === 0 ? 'succeeded' : 'failed'));
    await pay(bought.svc_invoice_id);
    expect(await shown(id)).toMatchObject({ balance_cents: 1000, credits_balance: '10.0' });
    expect((await journal()).prepaid_purchased).toBe(-1000);
  });

  test('50 voids of one wallet at the same time take no more than there is', { timeout: 60_000 }, async () => {
    const { svc_id: id } = await wallet(await customer());
    await move(id, { granted_credits: '10' });
    const answers = await times(() => move(id, { voided_credits: '1' }));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10);
    expect(await shown(id)).toMatchObject({ balance_cents: 0, credits_balance: '0.0', consumed_credits: '10.0' });
    expect(await journal()).toEqual({});
  });

  test('the balance of a wallet is always the sum of its transactions, and every cent is traced', {
    timeout: 60_000,
  }, async () => {
    const { svc_id: id } = await wallet(await customer(), { rate_amount: '0.3' });
    const kinds = ['granted_credits', 'voided_credits', 'paid_credits'];
    await times(async (index) => {
      const { body } = await move(id, {
        [kinds[(index * 7) % 3]!]: `${(index * 13) % 29}.${index}`,
        priority: (index % 3) + 1,
      });
      const bought = body.wallet_transactions?.find((each: { status: string }) => each.status === 'pending');
      if (bought) await pay(bought.svc_invoice_id);
    });
    const [row] = await service.sql<{ moved: number; left: number; balance: number; untraced: number }[]>`
      select sum(case when transaction_type = 'inbound' then amount_cents else -amount_cents end)
          filter (where status = 'settled')::bigint as moved,
        sum(remaining_amount_cents)::bigint as left,
        (select balance_cents from wallets where id = ${id}) as balance,
        (count(*) filter (where transaction_type = 'outbound' and amount_cents <> (
          select coalesce(sum(consumed_amount_cents), 0) from wallet_transaction_consumptions
          where outbound_wallet_transaction_id = wallet_transactions.id)))::bigint as untraced
      from wallet_transactions where wallet_id = ${id}`;
    expect(row).toEqual({ moved: row!.balance, left: row!.balance, balance: row!.balance, untraced: 0 });
    const { prepaid_granted = 0, prepaid_purchased = 0 } = await journal();
    expect(-(prepaid_granted + prepaid_purchased)).toBe(row!.balance);
  });
});

test('the ongoing balance follows an accepted event within two seconds', async () => {
  const externalId = await customer();
  const { svc_id: id } = await wallet(externalId, { granted_credits: '10' });
  const { svc_id: billable_metric_id } = await words.metric('u', { aggregation_type: 'sum_agg', field_name: 'n' });
  const charge = { billable_metric_id, charge_model: 'standard', properties: { amount: '1' } };
  await words.plan({ amount_cents: 0, amount_currency: 'EUR', charges: [charge] });
  await words.subscribe({ external_customer_id: externalId });
  await until(async () => (await shown(id)).ongoing_balance_cents === 1000 || undefined);
  await words.use('u', { n: 4 });
  const started = performance.now();
  await until(async () => (await shown(id)).ongoing_balance_cents === 600 || undefined);
  // The looks that make up for lost jobs come every five minutes.
  expect(performance.now() - started).toBeLessThan(60_000);
  await words.use('u', { n: 8 });
  await until(async () => (await shown(id)).ongoing_balance_cents === -200 || undefined);
  await words.use('u', { n: 1 });
  await until(async () => (await shown(id)).ongoing_balance_cents === -300 || undefined);
  const told = await service.sql`
    select from webhook_events where organization_id = ${client.organization.organization_id}
      and webhook_type = 'wallet.depleted_ongoing_balance'`;
  expect(told).toHaveLength(1);
});

test('a read of wallets takes at most 6 round trips, whatever it shows', async () => {
  const externalId = await customer();
  const { svc_id: id } = await wallet(externalId, {
    code: 'main',
    recurring_transaction_rules: [{ trigger: 'interval', interval: 'weekly', paid_credits: '10' }],
  });
  for (let n = 0; n < 5; n += 1) await wallet(externalId, { name: `w${n}` });
  for (let n = 0; n < 10; n += 1) await move(id, { granted_credits: '1' });
  const [out] = (await move(id, { voided_credits: '9.5' })).body.wallet_transactions;
  const now = '2100-01-01T00:00:00Z';
  const query = { page: 1, per_page: 1000 };
  const customerWallet = { external_customer_id: externalId, code: 'main', wallet_code: 'main' };
  const reads: [string, object][] = [
    ['findAllWallets', { query: { ...query, external_customer_id: externalId } }],
    ['findAllCustomerWallets', { ...customerWallet, query }],
    ['findWallet', { svc_id: id }],
    ['findCustomerWallet', customerWallet],
    ['findAllWalletTransactions', { svc_id: id, query }],
    ['findWalletTransaction', { svc_id: out.svc_id }],
    ['findAllWalletTransactionFundings', { svc_id: out.svc_id, query }],
    ['getCustomerWalletAlerts', { ...customerWallet, query }],
  ];
  for (const [operation, input] of reads) {
    const { roundTrips } = await countStatements(service, client.organization.organization_id, operation, {
      now,
      ...input,
    });
    expect(roundTrips, operation).toBeLessThanOrEqual(6);
  }
});
