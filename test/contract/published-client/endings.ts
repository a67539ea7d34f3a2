import { expect } from 'vitest';
import type { ClientStory } from './story.ts';

/** Everything goes that can. */
export async function takeDown({ api }: ClientStory): Promise<void> {
  const ended = await api.subscriptions.destroySubscription('acme-plan', { on_termination_credit_note: 'skip' });
  expect(ended.data.subscription.status).toBe('terminated');
  await api.subscriptions.destroySubscription('slow-plan');
  const wallets = await api.wallets.findAllWallets({ external_customer_id: 'acme' });
  await api.wallets.destroyWallet(wallets.data.wallets[0]!.lago_id);
  await api.customers.destroyCustomerWallet('slow', 'slow');
  await api.coupons.destroyCoupon('ten');
  await api.plans.destroyPlan('plan');
  await api.billableMetrics.destroyBillableMetric('stores');
  await api.addOns.destroyAddOn('seat');
  await api.taxes.destroyTax('vat');
  await api.customers.destroyCustomer('slow');
  expect((await api.customers.findAllCustomers()).data.customers).toHaveLength(1);
}
