import { Temporal } from 'temporal-polyfill';
import { isDateAfter } from '../../../../engine/calendar/instants.ts';
import { localDate } from '../../../../engine/calendar/local-day.ts';
import type { Context } from '../../../../platform/context.ts';
import type { ExternalCustomerId } from '../../../../platform/ids.ts';
import { type FieldErrors, refuse } from '../../../../platform/refusal.ts';
import { recordStartUnits } from '../../../catalog/fixed-charges/units-of-subscriptions.ts';
import { dropRules, saveRules } from '../activation-rules.ts';
import { recordSubscription } from '../announce.ts';
import {
  clearThresholdsOfCopy,
  isOverriding,
  lockPlansOf,
  overrideSubscription,
  refuseTwoThresholds,
} from '../overrides/override-plan.ts';
import { getShown, type SubscriptionRow } from '../queries.ts';
import type { SubscriptionUpdate } from '../schema.ts';
import {
  changeSubscription,
  getPlanFacts,
  lockCustomerById,
  type PlanFacts,
  type SubscriptionChange,
} from '../writes.ts';
import { refuseDates } from './create.ts';
import { billingEntityOf, definedOnly, refuseStrangeMethod, valuesOf } from './input.ts';
import { nextBillingFrom } from './next-billing.ts';
import { saveSections } from './sections.ts';
import { startSubscription } from './start.ts';
import { lockRecords } from './terminate.ts';
import { saveThresholds } from './thresholds.ts';

/**
 * Changes a subscription; `status` selects one of several records. Moving the start of a pending one to today starts it
 * as a creation would, moving it to the past starts it without billing.
 *
 * @returns id of the record
 * @throws Refusal 404 subscription, billing_entity; 405 subscription_incomplete, purchase_order_number_not_editable;
 *   422 of the fields
 * Rules: subscriptions.md#fields, subscriptions.md#external-id, subscriptions.md#statuses.
 */
export async function updateSubscription(
  ctx: Context,
  externalId: string,
  status: string | undefined,
  body: SubscriptionUpdate,
): Promise<string> {
  const overrides = isOverriding(body.plan_overrides) ? body.plan_overrides : undefined;
  refuseTwoThresholds(body);
  if (overrides) await lockPlansOf(ctx, externalId);
  const subscription = await lockMeant(ctx, externalId, status);
  const billingEntityId = await billingEntityOf(ctx, body);
  const [plan, customer] = [
    await getPlanFacts(ctx, subscription.plan_id),
    await lockCustomerById(ctx, subscription.customer_id),
  ];
  if (subscription.status === 'incomplete') throw refuse.notAllowed('subscription_incomplete');
  refusePurchaseOrder(subscription, body);
  await refuseStrangeMethod(ctx, subscription.customer_id, body);
  refuseRules(subscription, body);
  refuseFrozen(subscription, plan, customer!.external_id, body);
  const mayMove = isUnstarted(subscription);
  const subscriptionAt =
    mayMove && body.subscription_at ? Temporal.Instant.from(body.subscription_at) : subscription.subscription_at;
  refuseDates(body, customer!.zone, ctx.now(), subscriptionAt);

  const change = definedOnly<SubscriptionChange>({
    ...valuesOf(body),
    subscription_at: subscriptionAt,
    billing_entity_id: billingEntityId,
    on_termination_invoice: body.on_termination_invoice ?? undefined,
    // A plan in arrears has nothing to credit and accepts any value.
    on_termination_credit_note: plan.pay_in_advance ? body.on_termination_credit_note : undefined,
  });
  const before = await getShown(ctx, subscription.id);
  await changeSubscription(ctx, subscription.id, { change, now: ctx.now() });
  const planId = overrides ? await overrideSubscription(ctx, subscription, overrides) : subscription.plan_id;
  await saveThresholds(ctx, subscription.id, body);
  await saveSections(ctx, subscription.id, body);
  if (body.activation_rules) await saveRules(ctx, { ...subscription, ...change }, body.activation_rules);
  if (body.usage_thresholds) await clearThresholdsOfCopy(ctx, planId);
  if (mayMove) {
    const ownPlan = overrides ? await getPlanFacts(ctx, planId) : plan;
    await startWhenDue(ctx, { ...subscription, ...change, plan_id: planId }, ownPlan, customer!.zone);
  }
  await recordSubscription(ctx, 'subscription.updated', subscription.id, before);
  return subscription.id;
}

/**
 * The only record; of several the one with the given status, else the active one.
 * Rule: subscriptions.md#external-id.
 */
async function lockMeant(ctx: Context, externalId: string, status: string | undefined): Promise<SubscriptionRow> {
  const wanted = status === 'pending' || status === 'incomplete' ? status : 'active';
  const records = await lockRecords(ctx, externalId);
  const meant = records.length === 1 ? records[0] : records.findLast((row) => row.status === wanted);
  if (!meant) throw refuse.notFound('subscription');
  return meant;
}

function refusePurchaseOrder(subscription: SubscriptionRow, body: SubscriptionUpdate): void {
  const isOpen = subscription.status === 'pending' || subscription.status === 'active';
  const changes =
    body.purchase_order_number !== undefined && body.purchase_order_number !== subscription.purchase_order_number;
  if (changes && !isOpen) throw refuse.notAllowed('purchase_order_number_not_editable');
}

/** Rules are accepted before the start, also for a scheduled plan change. Rule: activation-rules.md. */
function refuseRules(subscription: SubscriptionRow, { activation_rules: rules }: SubscriptionUpdate): void {
  if (rules && subscription.status !== 'pending')
    throw refuse.invalid({ activation_rules: ['subscription_not_pending'] });
}

/** Only a pending record without predecessor may have its start moved. */
const isUnstarted = (subscription: SubscriptionRow): boolean =>
  subscription.status === 'pending' && subscription.previous_subscription_id === null;

/** Fields that can no longer change may be sent again with their stored value (everywhere.md#no-feature-switches). */
function refuseFrozen(
  subscription: SubscriptionRow,
  plan: PlanFacts,
  externalCustomerId: ExternalCustomerId,
  body: SubscriptionUpdate,
): void {
  const stored = {
    external_id: subscription.external_id,
    external_customer_id: externalCustomerId,
    plan_code: plan.code,
    billing_time: subscription.billing_time,
  };
  const details: FieldErrors = {};
  for (const [field, value] of Object.entries(stored)) {
    const given = body[field as keyof typeof stored];
    if (given !== undefined && given !== null && given !== value) details[field] = ['value_is_frozen'];
  }
  if (
    !isUnstarted(subscription) &&
    body.subscription_at &&
    !isSameSecond(Temporal.Instant.from(body.subscription_at), subscription.subscription_at)
  )
    details.subscription_at = ['value_is_frozen'];
  if (Object.keys(details).length > 0) throw refuse.invalid(details);
}

// The API shows whole seconds, so clients send those back.
const isSameSecond = (a: Temporal.Instant, b: Temporal.Instant): boolean =>
  Math.floor(a.epochMilliseconds / 1000) === Math.floor(b.epochMilliseconds / 1000);

/** Starts a pending subscription whose start was moved to today or before. Rule: subscriptions.md#statuses. */
async function startWhenDue(ctx: Context, subscription: SubscriptionRow, plan: PlanFacts, zone: string): Promise<void> {
  const now = ctx.now();
  const [day, today] = [localDate(subscription.subscription_at, zone), localDate(now, zone)];
  if (isDateAfter(day, today)) return;
  if (day.equals(today)) return startSubscription(ctx, subscription, { plan, zone, at: now });

  const started = { ...subscription, started_at: subscription.subscription_at };
  const change: SubscriptionChange = {
    status: 'active',
    started_at: subscription.subscription_at,
    activated_at: now,
    next_billing_at: nextBillingFrom(plan, started, zone, now),
  };
  await dropRules(ctx, subscription.id);
  await changeSubscription(ctx, subscription.id, { change, now });
  await recordSubscription(ctx, 'subscription.started', subscription.id);
  await recordStartUnits(ctx, subscription, subscription.subscription_at, zone);
}
