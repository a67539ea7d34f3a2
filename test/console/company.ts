import type { TestService } from '../support/service.ts';
import { openStory, type Story } from '../support/story.ts';
import { until } from '../support/until.ts';
import { ok } from '../support/words.ts';

/** A sandbox in which every room of the console has something to show. */
export interface Company extends Story {
  apiKey: string;
  invoiceId: string;
  creditNoteId: string;
  walletId: string;
  /** Of the ledger: what finalizing the invoice booked. */
  transactionId: string;
}

/** Two months of a company that sells calls: invoices, payments, a credit note, a wallet, a coupon, a feature. */
export async function openCompany(service: TestService): Promise<Company> {
  const story = await openStory(service, '2030-01-01T00:00:00Z');
  const client = story.client as Awaited<ReturnType<TestService['org']>>;
  await ok(
    client.put('/organizations', {
      organization: { legal_name: 'Meter Ltd', country: 'US', email: 'billing@meter.example', city: 'Austin' },
    }),
  );
  await story.tax(8, { name: 'Sales tax', code: 'sales' });
  const calls = await story.metric('calls', { name: 'API calls' });
  await story.plan({
    name: 'Team',
    code: 'team',
    amount_cents: 4900,
    charges: [{ billable_metric_id: calls.svc_id, charge_model: 'standard', properties: { amount: '0.05' } }],
  });
  await ok(
    client.post('/features', {
      feature: { code: 'seats', name: 'Seats', privileges: [{ code: 'max', name: 'Maximum', value_type: 'integer' }] },
    }),
  );
  await ok(client.post('/plans/team/entitlements', { entitlements: { seats: { max: 5 } } }));
  await ok(
    client.post('/coupons', {
      coupon: {
        name: 'Welcome',
        code: 'welcome',
        coupon_type: 'percentage',
        percentage_rate: '10',
        frequency: 'once',
        expiration: 'no_expiration',
      },
    }),
  );
  await ok(
    client.post('/payment_providers', {
      payment_provider: { type: 'sandbox', code: 'pay', name: 'Test payments', emulates: 'stripe' },
    }),
  );
  for (const [external_id, name] of [
    ['ada', 'Ada Analytics'],
    ['nevada', 'Nevada Ltd'],
    ['zed', 'Zed GmbH'],
  ]) {
    await story.customer({ external_id, name, email: `${external_id}@example.com`, country: 'US' });
    await ok(
      story.subscribe({ external_customer_id: external_id, external_id: `${external_id}-1`, plan_code: 'team' }),
    );
  }
  await ok(
    client.post('/applied_coupons', { applied_coupon: { external_customer_id: 'zed', coupon_code: 'welcome' } }),
  );
  for (const day of ['03', '10', '17', '24'])
    for (const by of ['ada-1', 'nevada-1']) await story.use('calls', {}, { by, at: `2030-01-${day}T10:00:00Z` });
  await story.advanceTo('2030-02-05T00:00:00Z');
  const [invoice] = await story.invoices(1, 'ada');
  await ok(story.pay(invoice!.svc_id, 2000));
  const fee = invoice!.fees.find((each: { amount_cents: number }) => each.amount_cents > 1000);
  const { credit_note } = await ok(
    client.post('/credit_notes', {
      credit_note: {
        invoice_id: invoice!.svc_id,
        reason: 'order_change',
        items: [{ fee_id: fee.svc_id, amount_cents: 1000 }],
        offset_amount_cents: 1080,
      },
    }),
  );
  const { wallet } = await ok(
    client.post('/wallets', {
      wallet: {
        external_customer_id: 'nevada',
        name: 'Prepaid',
        rate_amount: '1',
        currency: 'USD',
        granted_credits: '50',
      },
    }),
  );
  await until(async () => {
    const { body } = await client.get(`/wallets/${wallet.svc_id}`);
    return body.wallet.balance_cents === 5000 || undefined;
  });
  const { ledger_entries } = await ok(client.get(`/ledger/entries?invoice_id=${invoice!.svc_id}`));
  return {
    ...story,
    apiKey: client.organization.api_key,
    invoiceId: invoice!.svc_id,
    creditNoteId: credit_note.svc_id,
    walletId: wallet.svc_id,
    transactionId: ledger_entries[0].svc_transaction_id,
  };
}
