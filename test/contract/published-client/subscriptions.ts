import { expect } from 'vitest';
import { type ClientStory, firstOf } from './story.ts';

/** Two customers subscribe; one subscription is changed, priced apart and watched. */
export async function subscribe({ api }: ClientStory): Promise<void> {
  for (const customer of ['acme', 'slow'])
    await api.subscriptions.createSubscription({
      subscription: { external_customer_id: customer, external_id: `${customer}-plan`, plan_code: 'plan' },
    });
  await api.subscriptions.updateSubscription('acme-plan', { subscription: { name: 'Main', ending_at: null } });
  expect((await api.subscriptions.findSubscription('acme-plan')).data.subscription).toMatchObject({
    name: 'Main',
    status: 'active',
    plan_code: 'plan',
  });
  expect((await api.subscriptions.findAllSubscriptions({ 'status[]': ['active'] })).data.subscriptions).toHaveLength(2);
  const own = await api.customers.findAllCustomerSubscriptions('acme', { 'status[]': ['active'] });
  expect(own.data.subscriptions).toHaveLength(1);
}

/** Charges of one subscription's own. */
export async function priceApart({ api }: ClientStory): Promise<void> {
  const { subscriptions } = api;
  await subscriptions.overrideSubscriptionCharge('slow-plan', 'calls', { charge: { properties: { amount: '4' } } });
  const charge = await subscriptions.findSubscriptionCharge('slow-plan', 'calls');
  expect(charge.data.charge.properties).toMatchObject({ amount: '4' });
  expect((await subscriptions.findAllSubscriptionCharges('slow-plan')).data.charges).toHaveLength(2);
  const made = await subscriptions.createSubscriptionChargeFilter('slow-plan', 'calls', {
    filter: { values: { region: ['us'] }, properties: { amount: '5' } },
  });
  const id = made.data.filter.lago_id;
  await subscriptions.updateSubscriptionChargeFilter('slow-plan', 'calls', id, {
    filter: { invoice_display_name: 'America' },
  });
  const filter = await subscriptions.findSubscriptionChargeFilter('slow-plan', 'calls', id);
  expect(filter.data.filter.invoice_display_name).toBe('America');
  expect((await subscriptions.findAllSubscriptionChargeFilters('slow-plan', 'calls')).data.filters).toHaveLength(2);
  await subscriptions.destroySubscriptionChargeFilter('slow-plan', 'calls', id);

  await subscriptions.overrideSubscriptionFixedCharge('slow-plan', 'seats', { fixed_charge: { units: '3' } });
  const seats = await subscriptions.findSubscriptionFixedCharge('slow-plan', 'seats');
  expect(seats.data.fixed_charge.units).toBe(3);
  expect((await subscriptions.findAllSubscriptionFixedCharges('slow-plan')).data.fixed_charges).toHaveLength(1);
}

/** What one subscription may do apart from its plan. */
export async function grantApart({ api }: ClientStory): Promise<void> {
  const { subscriptions } = api;
  await subscriptions.updateSubscriptionEntitlements('acme-plan', { entitlements: { seats: { max: 30 } } });
  const granted = await subscriptions.findAllSubscriptionEntitlements('acme-plan');
  expect(granted.data.entitlements).toMatchObject([{ code: 'seats', overrides: { max: 30 } }]);
  await subscriptions.destroySubscriptionEntitlementPrivilege('acme-plan', 'seats', 'root');
  await subscriptions.destroySubscriptionEntitlement('acme-plan', 'seats');
}

/** Alerts on the usage of a subscription. */
export async function watch({ api }: ClientStory): Promise<void> {
  const { subscriptions } = api;
  const thresholds = [{ code: 'first', value: 1000 }];
  await subscriptions.createSubscriptionAlert('acme-plan', {
    alert: { alert_type: 'current_usage_amount', code: 'spend', thresholds },
  });
  await subscriptions.createSubscriptionAlert('acme-plan', {
    alerts: [{ alert_type: 'lifetime_usage_amount', code: 'life', thresholds }],
  });
  await subscriptions.updateSubscriptionAlert('acme-plan', 'spend', { alert: { name: 'Spend' } });
  expect((await subscriptions.getSubscriptionAlert('acme-plan', 'spend')).data.alert.name).toBe('Spend');
  expect((await subscriptions.getSubscriptionAlerts('acme-plan')).data.alerts).toHaveLength(2);
  await subscriptions.deleteSubscriptionAlert('acme-plan', 'life');
  await subscriptions.deleteAllSubscriptionAlerts('acme-plan');
}

/** Events come in and are looked up, and tell what they cost. */
export async function meter({ api }: ClientStory): Promise<void> {
  const event = (transaction_id: string, external_subscription_id: string, n: number) => ({
    transaction_id,
    external_subscription_id,
    code: 'calls',
    properties: { n, region: 'eu' },
  });
  const { data: stored } = await api.events.createEvent({ event: event('one', 'acme-plan', 10) });
  expect(stored.event.transaction_id).toBe('one');
  const batch = await api.events.createBatchEvents({
    events: [event('two', 'acme-plan', 5), event('three', 'slow-plan', 7)],
  });
  expect(batch.data.events).toHaveLength(2);
  expect((await api.events.findEvent('one')).data.event.code).toBe('calls');
  expect((await api.events.findAllEvents({ code: 'calls' })).data.events).toHaveLength(3);

  const inAdvance = { external_subscription_id: 'acme-plan', code: 'stores', properties: { n: 2 } };
  const fees = await api.events.eventEstimateFees({ event: inAdvance });
  expect(fees.data.fees[0]).toMatchObject({ amount_cents: 600, units: '2.0' });
  await api.events.eventEstimateInstantFees({ event: { ...inAdvance, transaction_id: 'guess' } });
  await api.events.eventBatchEstimateInstantFees({ events: [{ event: inAdvance }] });

  const subscription = { external_subscription_id: 'acme-plan' };
  const usage = await api.customers.findCustomerCurrentUsage('acme', subscription);
  expect(usage.data.customer_usage.amount_cents).toBe(3000);
  const projected = await api.customers.findCustomerProjectedUsage('acme', subscription);
  expect(projected.data.customer_projected_usage.amount_cents).toBe(3000);

  const lifetime = { lifetime_usage: { external_historical_usage_amount_cents: 700 } };
  await api.subscriptions.updateSubscriptionLifetimeUsage('acme-plan', lifetime);
  const read = await api.subscriptions.getSubscriptionLifetimeUsage('acme-plan');
  expect(read.data.lifetime_usage).toMatchObject({
    external_historical_usage_amount_cents: 700,
    current_usage_amount_cents: 3000,
  });
}

/** Fees of their own, on no invoice: paid outside, and taken back. */
export async function chargeAtOnce({ api }: ClientStory): Promise<void> {
  for (const transaction_id of ['shop', 'mistake'])
    await api.events.createEvent({
      event: { transaction_id, external_subscription_id: 'acme-plan', code: 'stores', properties: { n: 1 } },
    });
  const feeOf = (event_transaction_id: string) =>
    firstOf(async () => (await api.fees.findAllFees({ event_transaction_id })).data.fees);
  const [paid, mistake] = [await feeOf('shop'), await feeOf('mistake')];
  await api.fees.updateFee(paid.lago_id!, { fee: { payment_status: 'succeeded' } });
  expect((await api.fees.findFee(paid.lago_id!)).data.fee).toMatchObject({
    payment_status: 'succeeded',
    amount_cents: 300,
  });
  await api.fees.deleteFee(mistake.lago_id!);
}
