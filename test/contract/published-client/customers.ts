import { expect } from 'vitest';
import { type ClientStory, firstOf } from './story.ts';

/** A customer who pays by card, and one without a card whose invoices wait as drafts. */
export async function meetCustomers({ api, post }: ClientStory): Promise<void> {
  await post('/payment_providers', {
    payment_provider: { type: 'sandbox', code: 'cards', name: 'Cards', emulates: 'stripe' },
  });
  const { data } = await api.customers.createCustomer({
    customer: {
      external_id: 'acme',
      name: 'Acme',
      email: 'acme@example.com',
      currency: 'EUR',
      metadata: [{ key: 'segment', value: 'large', display_in_invoice: true }],
      billing_configuration: {
        payment_provider: 'stripe',
        payment_provider_code: 'cards',
        sync_with_provider: true,
        provider_payment_methods: ['card'],
      },
    },
  });
  expect(data.customer).toMatchObject({ external_id: 'acme', currency: 'EUR' });
  await api.customers.createCustomer({
    customer: {
      external_id: 'slow',
      name: 'Slow',
      email: 'slow@example.com',
      currency: 'EUR',
      billing_configuration: {
        invoice_grace_period: 5,
        payment_provider: 'stripe',
        payment_provider_code: 'cards',
        sync_with_provider: true,
      },
    },
  });
  expect((await api.customers.findCustomer('acme')).data.customer.metadata).toHaveLength(1);
  expect((await api.customers.findAllCustomers({ search_term: 'acme' })).data.customers).toHaveLength(1);
  expect((await api.customers.getCustomerPortalUrl('acme')).data.customer.portal_url).toMatch(/^http/);
  const { data: checkout } = await api.customers.generateCustomerCheckoutUrl('acme');
  expect(checkout.customer.checkout_url).toMatch(/^http/);
}

/** Cards are made where the customer enters them; here they are chosen and removed. */
export async function keepCards({ api, post }: ClientStory): Promise<void> {
  for (const card_number of ['4242424242424242', '5555555555554444'])
    await post('/customers/acme/payment_methods', { payment_method: { card_number } });
  const cards = await api.customers.findAllCustomersPaymentMethods('acme');
  expect(cards.data.payment_methods).toHaveLength(2);
  const [second, first] = cards.data.payment_methods;
  await api.customers.paymentMethodSetAsDefault(first!.lago_id, 'acme');
  await api.customers.destroyPaymentMethod(second!.lago_id, 'acme');
}

/** Coupons of a customer. */
export async function applyCoupons({ api }: ClientStory): Promise<void> {
  const applied = await api.appliedCoupons.applyCoupon({
    applied_coupon: { external_customer_id: 'acme', coupon_code: 'ten' },
  });
  expect(applied.data.applied_coupon).toMatchObject({ coupon_code: 'ten', status: 'active' });
  const all = await api.appliedCoupons.findAllAppliedCoupons({ status: 'active', 'coupon_code[]': ['ten'] });
  expect(all.data.applied_coupons).toHaveLength(1);
  const own = await api.customers.findAllCustomerAppliedCoupons('acme', { status: 'active' });
  await api.customers.deleteAppliedCoupon('acme', own.data.applied_coupons[0]!.lago_id);
}

/** Both ways to a wallet, what moves its credits, and its alerts. */
export async function fillWallets({ api }: ClientStory): Promise<void> {
  const wallet = { rate_amount: '1', currency: 'EUR', granted_credits: '20', paid_credits: '10' } as const;
  const { data: made } = await api.wallets.createWallet({
    wallet: { external_customer_id: 'acme', name: 'Prepaid', code: 'prepaid', ...wallet },
  });
  const id = made.wallet.lago_id;
  await api.wallets.updateWallet(id, { wallet: { name: 'Credits' } });
  expect((await api.wallets.findWallet(id)).data.wallet.name).toBe('Credits');
  expect((await api.wallets.findAllWallets({ external_customer_id: 'acme' })).data.wallets).toHaveLength(1);
  await api.wallets.replaceWalletMetadata(id, { metadata: { a: '1' } });
  await api.wallets.mergeWalletMetadata(id, { metadata: { b: '2' } });
  expect((await api.wallets.deleteWalletMetadataKey(id, 'a')).data.metadata).toEqual({ b: '2' });
  await api.wallets.deleteAllWalletMetadata(id);

  const granted = await firstOf(async () => {
    const list = await api.wallets.findAllWalletTransactions(id, { status: 'settled', transaction_type: 'inbound' });
    return list.data.wallet_transactions;
  });
  const { data: topUp } = await api.walletTransactions.createWalletTransaction({
    wallet_transaction: { wallet_id: id, voided_credits: '4' },
  });
  const [voided] = topUp.wallet_transactions;
  await api.walletTransactions.findWalletTransaction(granted.lago_id);
  const consumptions = await api.walletTransactions.findAllWalletTransactionConsumptions(granted.lago_id);
  expect(consumptions.data).toHaveProperty('wallet_transaction_consumptions');
  const fundings = await api.walletTransactions.findAllWalletTransactionFundings(voided!.lago_id);
  expect(fundings.data).toHaveProperty('wallet_transaction_fundings');
}

/** A wallet by the customer's routes, with the alerts on it. */
export async function fillCustomerWallet({ api }: ClientStory): Promise<void> {
  const wallet = { name: 'Slow', code: 'slow', rate_amount: '1', currency: 'EUR', paid_credits: '10' } as const;
  const { data: made } = await api.customers.createCustomerWallet('slow', {
    wallet: { external_customer_id: 'slow', ...wallet },
  });
  const unpaid = await firstOf(async () => {
    const list = await api.wallets.findAllWalletTransactions(made.wallet.lago_id, { status: 'pending' });
    return list.data.wallet_transactions;
  });
  const page = await api.walletTransactions.walletTransactionPaymentUrl(unpaid.lago_id);
  expect(page.data.wallet_transaction_payment_details?.payment_url).toMatch(/^http/);
  await api.customers.updateCustomerWallet('slow', 'slow', { wallet: { name: 'Slower' } });
  expect((await api.customers.findCustomerWallet('slow', 'slow')).data.wallet.name).toBe('Slower');
  expect((await api.customers.findAllCustomerWallets('slow')).data.wallets).toHaveLength(1);
  await api.customers.replaceCustomerWalletMetadata('slow', 'slow', { metadata: { a: '1' } });
  await api.customers.mergeCustomerWalletMetadata('slow', 'slow', { metadata: { b: '2' } });
  await api.customers.deleteCustomerWalletMetadataKey('slow', 'slow', 'a');
  await api.customers.deleteAllCustomerWalletMetadata('slow', 'slow');

  const thresholds = [{ code: 'low', value: 100 }];
  await api.customers.createCustomerWalletAlert('slow', 'slow', {
    alert: { alert_type: 'wallet_balance_amount', code: 'low', thresholds },
  });
  await api.customers.createCustomerWalletAlert('slow', 'slow', {
    alerts: [{ alert_type: 'wallet_ongoing_balance_amount', code: 'ongoing', thresholds }],
  });
  await api.customers.updateCustomerWalletAlert('slow', 'slow', 'low', { alert: { name: 'Low' } });
  expect((await api.customers.getCustomerWalletAlert('slow', 'slow', 'low')).data.alert.name).toBe('Low');
  expect((await api.customers.getCustomerWalletAlerts('slow', 'slow')).data.alerts).toHaveLength(2);
  await api.customers.deleteCustomerWalletAlert('slow', 'slow', 'low');
  await api.customers.deleteAllCustomerWalletAlerts('slow', 'slow');
}
