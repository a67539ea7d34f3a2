import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../support/story.ts';
import { until } from '../../support/until.ts';

// Voided invoices of other types than `subscription` made anew: invoice-operations.md#regenerate.
let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const regenerate = (story: Story, source: Invoice, fields: object) =>
  story.client.post(`/invoices/${source.svc_id}/regenerate`, { invoice: fields });
const voided = (story: Story, source: Invoice) => story.client.post(`/invoices/${source.svc_id}/void`);
const balances = async ({ organizationId }: Story, invoiceId: string) =>
  Object.fromEntries(
    (
      await service.sql<{ account: string; balance: number }[]>`
        select account_code as account,
          sum(case side when 'debit' then amount_cents else -amount_cents end)::bigint as balance
        from ledger_entries where organization_id = ${organizationId} and invoice_id = ${invoiceId} group by 1`
    ).map(({ account, balance }) => [account, balance]),
  );
const equal = async (story: Story, { svc_id }: Invoice) =>
  (await story.client.post(`/invoices/${svc_id}/verify`)).body.verification;

test('a regenerated one-off invoice copies the listed fees, chooses their taxes again and keeps its sections and payment', async () => {
  const story = await openStory(service, '2024-03-01T10:00:00Z');
  const { client } = story;
  await story.customer({ net_payment_term: 10 });
  await client.post('/taxes', { tax: { name: 'VAT', code: 'vat', rate: '20', applied_to_organization: true } });
  await client.post('/taxes', { tax: { name: 'Low', code: 'low', rate: '5' } });
  await client.post('/invoice_custom_sections', { invoice_custom_section: { code: 'thanks', name: 'Thanks' } });
  await client.post('/add_ons', {
    add_on: { name: 'Setup', code: 'setup', amount_cents: 5000, amount_currency: 'USD' },
  });
  const made = await client.post('/invoices', {
    invoice: {
      external_customer_id: 'acme',
      currency: 'USD',
      skip_psp: true,
      purchase_order_number: 'PO-1',
      invoice_custom_section: { invoice_custom_section_codes: ['thanks'] },
      fees: [
        { add_on_code: 'setup', units: 2, tax_codes: ['low'] },
        { add_on_code: 'setup', unit_amount_cents: 3333 },
        { add_on_code: 'setup' },
      ],
    },
  });
  const source = made.body.invoice;
  const [low, standard] = source.fees;
  expect((await regenerate(story, source, { fees: [{ id: low.svc_id }] })).body.code).toBe('not_regenerable');
  await voided(story, source);
  await story.advanceTo('2024-03-20T00:00:00Z');
  await client.put('/taxes/vat', { tax: { rate: '10' } });
  const fees = [{ id: low.svc_id, units: '1.5', unit_amount_cents: 999 }, { id: standard.svc_id }];
  expect((await regenerate(story, source, { fees: [{ charge_id: low.svc_id }] })).body).toMatchObject({
    status: 404,
    resource: 'fee',
  });
  const { body, status, text } = await regenerate(story, source, { fees });
  expect(status, text).toBe(200);
  const { invoice } = body;
  // 1499 at 5 %, 3333 at 10 %
  expect(invoice).toMatchObject({
    invoice_type: 'one_off',
    status: 'finalized',
    issuing_date: '2024-03-01',
    payment_due_date: '2024-03-11',
    purchase_order_number: 'PO-1',
    fees_amount_cents: 1499 + 3333,
    taxes_amount_cents: 408,
    total_amount_cents: 5240,
    applied_invoice_custom_sections: [{ code: 'thanks' }],
  });
  expect(invoice.fees.map((fee: Invoice) => [fee.svc_original_fee_id, fee.amount_cents, fee.taxes_rate])).toEqual([
    [low.svc_id, 1499, 5],
    [standard.svc_id, 3333, 10],
  ]);
  expect(await balances(story, invoice.svc_id)).toMatchObject({ receivable: 5240 });
  expect(await equal(story, invoice)).toMatchObject({ status: 'equal', differences: [] });
  const [stored] = await service.sql`select skip_psp from invoices where id = ${invoice.svc_id}`;
  expect(stored!.skip_psp).toBe(true);
  expect((await regenerate(story, source, { fees })).body.code).toBe('not_regenerable');
});

test('a regenerated progressive invoice has the same thresholds, and the invoice of the month credits it', async () => {
  const story = await openStory(service, '2022-12-01T00:00:00Z');
  const { client } = story;
  await story.customer();
  const metric = await client.post('/billable_metrics', {
    billable_metric: { name: 'Units', code: 'units', aggregation_type: 'sum_agg', field_name: 'value' },
  });
  await story.plan({
    amount_cents: 3100,
    usage_thresholds: [{ amount_cents: 20000 }],
    charges: [
      {
        billable_metric_id: metric.body.billable_metric.svc_id,
        charge_model: 'standard',
        properties: { amount: '0.0002' },
      },
    ],
  });
  await story.subscribe();
  await story.advanceTo('2022-12-06T10:00:00Z');
  await client.post('/events', {
    event: { transaction_id: 'p', external_subscription_id: 'sub', code: 'units', properties: { value: 1_000_000 } },
  });
  await story.advanceTo('2022-12-06T10:15:00Z');
  const [source] = await story.invoices(1);
  await voided(story, source);
  const { body, text } = await regenerate(story, source, { fees: [{ id: source.fees[0].svc_id }] });
  expect(body.invoice, text).toMatchObject({
    invoice_type: 'progressive_billing',
    status: 'finalized',
    issuing_date: '2022-12-06',
    total_amount_cents: 20000,
    billing_periods: source.billing_periods,
    applied_usage_thresholds: [{ lifetime_usage_amount_cents: 20000, usage_threshold: { amount_cents: 20000 } }],
  });
  await story.advanceTo('2023-01-01T02:00:00Z');
  const month = (await story.invoices(3)).find(({ issuing_date }: Invoice) => issuing_date === '2023-01-01');
  expect(month).toMatchObject({
    fees_amount_cents: 23100,
    progressive_billing_credit_amount_cents: 20000,
    total_amount_cents: 3100,
  });
});

test('regenerating an invoice of credits buys unpaid credits once more and is refused for paid ones', async () => {
  const story = await openStory(service, '2024-03-01T10:00:00Z');
  const { client } = story;
  await story.customer();
  const { wallet } = (
    await client.post('/wallets', { wallet: { external_customer_id: 'acme', rate_amount: '2', currency: 'USD' } })
  ).body;
  const buy = async () => {
    const bought = await client.post('/wallet_transactions', {
      wallet_transaction: { wallet_id: wallet.svc_id, paid_credits: '10', name: 'Pack' },
    });
    const { svc_invoice_id } = bought.body.wallet_transactions[0];
    return (await client.get(`/invoices/${svc_invoice_id}`)).body.invoice;
  };
  const source = await buy();
  await voided(story, source);
  const fee = source.fees[0].svc_id;
  const priced = await regenerate(story, source, { fees: [{ id: fee, unit_amount_cents: 100 }] });
  expect(priced.body.error_details).toEqual({ unit_amount_cents: ['value_is_frozen'] });
  const { body, text } = await regenerate(story, source, { fees: [{ id: fee, units: '4' }] });
  expect(body.invoice, text).toMatchObject({
    invoice_type: 'credit',
    status: 'finalized',
    total_amount_cents: 800,
    fees: [{ svc_original_fee_id: fee, units: '4.0', amount_cents: 800, item: { invoice_display_name: 'Pack' } }],
  });
  await client.put(`/invoices/${body.invoice.svc_id}`, { invoice: { payment_status: 'succeeded' } });
  await until(
    async () => (await client.get(`/wallets/${wallet.svc_id}`)).body.wallet.balance_cents === 800 || undefined,
  );
  const { wallet_transactions } = (await client.get(`/wallets/${wallet.svc_id}/wallet_transactions`)).body;
  expect(wallet_transactions.map((each: Invoice) => [each.status, each.credit_amount])).toEqual([
    ['settled', '4.0'],
    ['failed', '10.0'],
  ]);

  const paid = await buy();
  await client.put(`/invoices/${paid.svc_id}`, { invoice: { payment_status: 'succeeded' } });
  await voided(story, paid);
  const again = await regenerate(story, paid, { fees: [{ id: paid.fees[0].svc_id }] });
  expect(again.body).toMatchObject({ status: 405, code: 'not_regenerable' });
});
