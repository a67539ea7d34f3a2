import type { SwitchKind } from '../../../../engine/calendar/terms.ts';
import { isUpgrade } from '../../../../engine/subscriptions/comparison-amount.ts';
import type { Context } from '../../../../platform/context.ts';
import type { BillingEntityId } from '../../../../platform/ids.ts';
import { newId } from '../../../../platform/ids.ts';
import { recordStartUnits } from '../../../catalog/fixed-charges/units-of-subscriptions.ts';
import { markUsage } from '../../../catalog/usage-thresholds/usage-marks.ts';
import { copyRules, saveRules } from '../activation-rules.ts';
import { recordSubscription } from '../announce.ts';
import { saveFirstUnits } from '../overrides/override-plan.ts';
import type { SubscriptionRow } from '../queries.ts';
import type { SubscriptionCreate } from '../schema.ts';
import {
  changeSubscription,
  getPlanFacts,
  insertSubscription,
  type LockedCustomer,
  type NewSubscription,
  type PlanFacts,
} from '../writes.ts';
import { cancelPendingSuccessors } from './cancel.ts';
import { endReplaced } from './end-replaced.ts';
import { definedOnly, valuesOf } from './input.ts';
import { nextBillingFrom } from './next-billing.ts';
import { inheritSections, saveSections } from './sections.ts';
import { BILL_STEP, type BillStep, bearsOpeningLine, waitForPayment } from './start.ts';
import { changesThresholds, saveThresholds } from './thresholds.ts';

interface PlanChange {
  current: SubscriptionRow;
  lineage: readonly SubscriptionRow[];
  plan: PlanFacts;
  customer: LockedCustomer;
  body: SubscriptionCreate;
  billingEntityId: BillingEntityId | null | undefined;
  /** Record of the former requested change, whose rules this one keeps. */
  rulesOf?: string;
}

/**
 * Moves a subscription to another plan: at once when its yearly amount is not smaller, else at the end of the period in
 * progress; a subscription that has not started just gets the plan. The same plan changes only thresholds and custom
 * sections. With rules that wait for a payment the current record runs on until it is paid.
 *
 * @returns id of the new record of an upgrade, else of the current one
 * @throws Refusal 405 cannot_terminate_with_pending_taxes, of an upgrade; 422 customer, of rules
 * Rules: subscriptions.md#external-id, plan-changes.md#upgrade, plan-changes.md#downgrade, activation-rules.md.
 */
export async function changePlan(ctx: Context, change: PlanChange): Promise<string> {
  const { current, plan, body } = change;
  if (current.plan_id === plan.id) {
    await saveThresholds(ctx, current.id, body);
    await saveSections(ctx, current.id, body);
    return current.id;
  }
  if (current.status === 'pending') {
    await changeSubscription(ctx, current.id, {
      change: { plan_id: plan.id, ...definedOnly({ name: body.name }) },
      now: ctx.now(),
    });
    await saveFirstUnits(ctx, plan, { ...current, zone: change.customer.zone }, body.plan_overrides);
    if (body.activation_rules) await saveRules(ctx, current, body.activation_rules);
    await recordSubscription(ctx, 'subscription.updated', current.id);
    return current.id;
  }
  const currentPlan = await getPlanFacts(ctx, current.plan_id);
  return isUpgrade(currentPlan, plan) ? upgrade(ctx, change, currentPlan) : downgrade(ctx, change);
}

async function upgrade(ctx: Context, change: PlanChange, currentPlan: PlanFacts): Promise<string> {
  const { current, plan, customer } = change;
  const now = ctx.now();
  await cancelPendingSuccessors(ctx, current);
  const pending = await insertSuccessor(ctx, change, 'upgrade');
  const next = { ...pending, started_at: now, trial_ended_at: null };
  if (await waitForPayment(ctx, plan, { successor: next, zone: customer.zone, at: now })) return next.id;

  await endReplaced(ctx, current, currentPlan, { isMidway: true });
  await changeSubscription(ctx, next.id, {
    change: {
      status: 'active',
      started_at: now,
      activated_at: now,
      next_billing_at: nextBillingFrom(plan, { ...next, terminated_at: null }, customer.zone, now),
    },
    now,
  });
  await recordSubscription(ctx, 'subscription.terminated', current.id);
  await recordSubscription(ctx, 'subscription.started', next.id);
  await recordStartUnits(ctx, next, now, customer.zone);
  if (changesThresholds(change.body)) await markUsage(ctx, { ids: [next.id] });
  await billUpgrade(ctx, change, currentPlan, next);
  return next.id;
}

/**
 * One invoice a second later, for the plan that ends and the plan that begins; two when their purchase orders, entities
 * or currencies differ. Rule: plan-changes.md#upgrade.
 */
async function billUpgrade(
  ctx: Context,
  { current, plan }: PlanChange,
  currentPlan: PlanFacts,
  next: NewSubscription,
): Promise<void> {
  const at = ctx.now().add({ seconds: 1 }).toString();
  const closing: BillStep['lines'] = [{ subscription_id: current.id, reason: 'subscription_terminating' }];
  const isBilled = await bearsOpeningLine(ctx, plan, { ...next, trial_ended_at: null }, ctx.now());
  const opening: BillStep['lines'] = isBilled ? [{ subscription_id: next.id, reason: 'subscription_starting' }] : [];
  const isOne =
    current.purchase_order_number === next.purchase_order_number &&
    current.billing_entity_id === next.billing_entity_id &&
    currentPlan.amount_currency === plan.amount_currency;
  const invoices = isOne ? [[...closing, ...opening]] : [closing, opening];
  for (const lines of invoices) {
    if (lines.length > 0) ctx.after({ step: BILL_STEP, payload: { lines, at } });
  }
}

async function downgrade(ctx: Context, change: PlanChange): Promise<string> {
  const { current, body } = change;
  await cancelPendingSuccessors(ctx, current);
  const isDisabled = body.progressive_billing_disabled ?? current.progressive_billing_disabled;
  await insertSuccessor(ctx, change, 'downgrade', { progressive_billing_disabled: isDisabled });
  await recordSubscription(ctx, 'subscription.updated', current.id);
  return current.id;
}

/** Stores the record that follows, pending, with everything that belongs to it. */
async function insertSuccessor(
  ctx: Context,
  change: PlanChange,
  kind: SwitchKind,
  values: Partial<NewSubscription> = {},
): Promise<NewSubscription> {
  const { current, plan, customer, body, rulesOf } = change;
  const next = { ...successor(ctx, change, kind), ...values };
  await insertSubscription(ctx, next);
  await saveFirstUnits(ctx, plan, { ...next, terminated_at: null, zone: customer.zone }, body.plan_overrides);
  await saveThresholds(ctx, next.id, body);
  await inheritSections(ctx, { from: current.id, to: next.id }, body);
  if (body.activation_rules?.length) await saveRules(ctx, next, body.activation_rules);
  if (rulesOf !== undefined) await copyRules(ctx, { from: rulesOf, to: next.id });
  return next;
}

/**
 * The record that follows: anchor and billing time are inherited, the rest comes from the request or else the old one.
 */
function successor(
  ctx: Context,
  { current, plan, body, billingEntityId }: PlanChange,
  kind: SwitchKind,
): NewSubscription {
  return {
    id: newId(),
    customer_id: current.customer_id,
    plan_id: plan.id,
    previous_subscription_id: current.id,
    switch_kind: kind,
    external_id: current.external_id,
    billing_time: current.billing_time,
    subscription_at: current.subscription_at,
    name: null,
    ending_at: current.ending_at,
    consolidate_invoice: current.consolidate_invoice,
    progressive_billing_disabled: false,
    skip_invoice_custom_sections: current.skip_invoice_custom_sections,
    purchase_order_number: current.purchase_order_number,
    buyer_reference: current.buyer_reference,
    payment_method_type: null,
    payment_method_id: null,
    billing_entity_id: billingEntityId === undefined ? current.billing_entity_id : billingEntityId,
    on_termination_credit_note: null,
    on_termination_invoice: 'generate',
    next_billing_at: null,
    ...valuesOf(body),
    status: 'pending',
    started_at: null,
    activated_at: null,
    created_at: ctx.now(),
    updated_at: ctx.now(),
  };
}
