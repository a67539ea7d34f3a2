import { Temporal } from 'temporal-polyfill';
import { assert } from '../../../../engine/assert.ts';
import { isDateAfter, isDateBefore, later } from '../../../../engine/calendar/instants.ts';
import { localDate } from '../../../../engine/calendar/local-day.ts';
import type { Context } from '../../../../platform/context.ts';
import type { BillingEntityId } from '../../../../platform/ids.ts';
import { newId } from '../../../../platform/ids.ts';
import { refuse } from '../../../../platform/refusal.ts';
import { recordStartUnits } from '../../../catalog/fixed-charges/units-of-subscriptions.ts';
import type { PlanOverrides } from '../../../catalog/plans/override-schema.ts';
import { saveRules } from '../activation-rules.ts';
import { recordSubscription } from '../announce.ts';
import {
  isForUnitsOnly,
  isOverriding,
  overriddenPlan,
  overrideSubscription,
  refuseTwoThresholds,
  saveFirstUnits,
} from '../overrides/override-plan.ts';
import { getShown, type SubscriptionRow } from '../queries.ts';
import type { SubscriptionCreate } from '../schema.ts';
import {
  findPlanForSale,
  getPlanFacts,
  insertSubscription,
  type LockedCustomer,
  lockLineage,
  type NewSubscription,
  type PlanFacts,
  setFirstCurrency,
} from '../writes.ts';
import { changePlan } from './change-plan.ts';
import { billingEntityOf, refuseStrangeMethod, valuesOf } from './input.ts';
import { lockOrCreateCustomer } from './lock-or-create-customer.ts';
import { nextBillingFrom } from './next-billing.ts';
import { saveSections } from './sections.ts';
import { announceStart } from './start.ts';
import { saveThresholds } from './thresholds.ts';

/**
 * Creates a subscription, or changes the plan of the one that already has the external id; the same plan again changes
 * nothing. An unknown customer is created with it.
 *
 * @returns id of the subscription to return: the new one, or the current one of a scheduled downgrade
 * @throws Refusal 404 plan, billing_entity; 422 of the fields
 * Rules: subscriptions.md#external-id, subscriptions.md#creation-and-first-billing, plan-changes.md#upgrade,
 * plan-changes.md#downgrade.
 */
export async function createSubscription(ctx: Context, body: SubscriptionCreate): Promise<string> {
  const sold = await findPlanForSale(ctx, body.plan_code);
  if (!sold) throw refuse.notFound('plan');
  refuseTwoThresholds(body);
  const billingEntityId = await billingEntityOf(ctx, body);

  const customer = await lockOrCreateCustomer(ctx, body.external_customer_id);
  await refuseStrangeMethod(ctx, customer.id, body);
  const lineage = await lockLineage(ctx, body.external_id);
  const current = currentOf(lineage, customer);
  const overrides = isOverriding(body.plan_overrides) ? body.plan_overrides : undefined;
  if (overrides && current?.plan_id === sold.id) return overrideCurrent(ctx, current, overrides);
  const plan =
    overrides && !isForUnitsOnly(overrides)
      ? await getPlanFacts(ctx, await overriddenPlan(ctx, sold.id, overrides))
      : sold;
  if (current !== undefined) return changePlan(ctx, { current, lineage, plan, customer, body, billingEntityId });

  refuseDates(body, customer.zone, ctx.now());
  if (customer.currency === null)
    await setFirstCurrency(ctx, customer.id, { currency: plan.amount_currency, now: ctx.now() });
  const subscription = newSubscription(ctx, { plan, customer, body, billingEntityId, lineage });
  await insertSubscription(ctx, subscription);
  await saveFirstUnits(ctx, plan, { ...subscription, terminated_at: null, zone: customer.zone }, body.plan_overrides);
  await saveThresholds(ctx, subscription.id, body);
  await saveSections(ctx, subscription.id, body);
  if (body.activation_rules?.length) await saveRules(ctx, subscription, body.activation_rules);
  if (subscription.status === 'active') {
    await billStart(ctx, subscription, plan, customer.zone);
  }
  return subscription.id;
}

/** The same plan with overrides changes those of the current subscription. */
async function overrideCurrent(ctx: Context, current: SubscriptionRow, overrides: PlanOverrides): Promise<string> {
  const before = await getShown(ctx, current.id);
  await overrideSubscription(ctx, current, overrides);
  await recordSubscription(ctx, 'subscription.updated', current.id, before);
  return current.id;
}

/**
 * The record that a POST changes: the active one, else a pending one without predecessor.
 * Rule: subscriptions.md#external-id.
 */
function currentOf(lineage: readonly SubscriptionRow[], customer: LockedCustomer): SubscriptionRow | undefined {
  const active = lineage.find(({ status }) => status === 'active');
  if (active !== undefined && active.customer_id !== customer.id)
    throw refuse.invalid({ external_id: ['value_already_exist'] });
  const own = lineage.filter(({ customer_id }) => customer_id === customer.id);
  if (own.some(({ status }) => status === 'incomplete'))
    throw refuse.invalid({ subscription: ['subscription_incomplete'] });
  return (
    active ??
    own.find(({ status, previous_subscription_id }) => status === 'pending' && previous_subscription_id === null)
  );
}

interface Creation {
  plan: PlanFacts;
  customer: LockedCustomer;
  body: SubscriptionCreate;
  billingEntityId: BillingEntityId | null | undefined;
  lineage: readonly SubscriptionRow[];
}

/**
 * The record of a new subscription: pending before its local day, else active since its start.
 * Rule: subscriptions.md#creation-and-first-billing.
 */
function newSubscription(ctx: Context, { plan, customer, body, billingEntityId, lineage }: Creation): NewSubscription {
  const now = ctx.now();
  const subscriptionAt = body.subscription_at ? Temporal.Instant.from(body.subscription_at) : now;
  const startsIn = Temporal.PlainDate.compare(localDate(subscriptionAt, customer.zone), localDate(now, customer.zone));
  const startedAt = startsIn > 0 ? null : startsIn === 0 ? subscriptionAt : startInPast(subscriptionAt, lineage);
  const terms = {
    subscription_at: subscriptionAt,
    billing_time: body.billing_time,
    started_at: startedAt,
    terminated_at: null,
  };
  return {
    id: newId(),
    customer_id: customer.id,
    plan_id: plan.id,
    previous_subscription_id: null,
    switch_kind: null,
    external_id: body.external_id,
    status: startedAt === null ? 'pending' : 'active',
    billing_time: body.billing_time,
    subscription_at: subscriptionAt,
    started_at: startedAt,
    activated_at: startedAt === null ? null : now,
    on_termination_credit_note: null,
    on_termination_invoice: 'generate',
    next_billing_at: startedAt === null ? null : nextBillingFrom(plan, terms, customer.zone, now),
    name: null,
    ending_at: null,
    consolidate_invoice: true,
    progressive_billing_disabled: false,
    skip_invoice_custom_sections: false,
    purchase_order_number: null,
    buyer_reference: null,
    payment_method_type: null,
    payment_method_id: null,
    billing_entity_id: billingEntityId ?? null,
    ...valuesOf(body),
    created_at: now,
    updated_at: now,
  };
}

/**
 * A start in the past does not overlap with what an ended record of the external id has billed.
 * Rule: subscriptions.md#creation-and-first-billing "past".
 */
function startInPast(subscriptionAt: Temporal.Instant, lineage: readonly SubscriptionRow[]): Temporal.Instant {
  return lineage
    .filter(({ status, on_termination_invoice }) => status === 'terminated' && on_termination_invoice === 'generate')
    .reduce(
      (start, { terminated_at }) => (terminated_at === null ? start : later(start, terminated_at)),
      subscriptionAt,
    );
}

/**
 * A start today bills charges in advance at once; an earlier one waits for the next run.
 * Rule: subscriptions.md#creation-and-first-billing.
 */
async function billStart(ctx: Context, subscription: NewSubscription, plan: PlanFacts, zone: string): Promise<void> {
  const startedAt = subscription.started_at;
  assert(startedAt, 'an active subscription has started');
  const started = { ...subscription, trial_ended_at: null };
  if (!isDateBefore(localDate(subscription.subscription_at, zone), localDate(ctx.now(), zone)))
    return announceStart(ctx, plan, { subscription: started, zone, startedAt, billedAt: ctx.now() });
  await recordSubscription(ctx, 'subscription.started', subscription.id);
  await recordStartUnits(ctx, subscription, startedAt, zone);
}

/**
 * @throws Refusal 422 ending_at, unless its local date lies after today and after the start.
 * Rule: subscriptions.md#fields.
 */
export function refuseDates(
  body: { subscription_at?: string | null | undefined; ending_at?: string | null | undefined },
  zone: string,
  now: Temporal.Instant,
  start: Temporal.Instant = body.subscription_at ? Temporal.Instant.from(body.subscription_at) : now,
): void {
  if (!body.ending_at) return;
  const endsOn = localDate(Temporal.Instant.from(body.ending_at), zone);
  if (isDateAfter(endsOn, localDate(now, zone)) && isDateAfter(endsOn, localDate(start, zone))) return;
  throw refuse.invalid({ ending_at: ['invalid_date'] });
}
