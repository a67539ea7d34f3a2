import { isUpgrade } from '../../../engine/subscriptions/comparison-amount.ts';
import type { Context } from '../../../platform/context.ts';
import { newId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { creditUnusedDays } from '../../credit-notes/commands/on-termination.ts';
import { recordStartUnits } from '../../fixed-charges/units.ts';
import { saveFirstUnits } from '../overrides/apply.ts';
import type { SubscriptionRow } from '../queries.ts';
import { recordSubscription } from '../record.ts';
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
import { definedOnly, valuesOf } from './input.ts';
import { nextBillingFrom } from './next-billing.ts';
import { inheritSections, saveSections } from './sections.ts';
import { BILL_STEP, type BillStep, bearsOpeningLine } from './start.ts';
import { endSubscription } from './terminate.ts';
import { saveThresholds } from './thresholds.ts';

interface PlanChange {
  current: SubscriptionRow;
  lineage: readonly SubscriptionRow[];
  plan: PlanFacts;
  customer: LockedCustomer;
  body: SubscriptionCreate;
  billingEntityId: string | null | undefined;
}

/**
 * Moves a subscription to another plan: at once when its yearly amount is not smaller, else at the end of the period in
 * progress; a subscription that is yet to start just gets the plan. The same plan changes nothing but thresholds and
 * custom sections.
 *
 * @returns id of the new record of an upgrade, else of the current one
 * @throws Refusal 405 cannot_terminate_with_pending_taxes, of an upgrade
 * Rules: subscriptions-and-invoices B.2, B.5, B.6.
 */
export async function changePlan(ctx: Context, change: PlanChange): Promise<string> {
  const { current, plan, body } = change;
  if (current.plan_id === plan.id) {
    await saveThresholds(ctx, current.id, body);
    await saveSections(ctx, current.id, body);
    return current.id;
  }
  // Rules of a plan change, which would keep the former plan until the new one is paid, are not built.
  if (body.activation_rules?.length) throw refuse.invalid({ activation_rules: ['unsupported_value'] });
  if (current.status === 'pending') {
    await changeSubscription(
      ctx.db,
      ctx.organizationId,
      current.id,
      { plan_id: plan.id, ...definedOnly({ name: body.name }) },
      ctx.now(),
    );
    await saveFirstUnits(ctx, plan, { ...current, zone: change.customer.zone }, body.plan_overrides);
    await recordSubscription(ctx, 'subscription.updated', current.id);
    return current.id;
  }
  const currentPlan = await getPlanFacts(ctx.db, ctx.organizationId, current.plan_id);
  return isUpgrade(currentPlan, plan) ? upgrade(ctx, change, currentPlan) : downgrade(ctx, change);
}

async function upgrade(ctx: Context, change: PlanChange, currentPlan: PlanFacts): Promise<string> {
  const { current, plan, customer } = change;
  const now = ctx.now();
  // A stored refund or offset counts as credit: the new plan is paid with it (B.5).
  if (currentPlan.pay_in_advance && current.on_termination_credit_note !== 'skip') {
    const ending = { plan: currentPlan, subscription: current, at: now, choice: 'credit', isUpgrade: true } as const;
    await creditUnusedDays(ctx, ending);
  }

  await cancelPendingSuccessors(ctx, current);
  await endSubscription(ctx, current, { terminated_at: now });
  const started = successor(ctx, change, { status: 'active', started_at: now, activated_at: now });
  const next = {
    ...started,
    next_billing_at: nextBillingFrom(plan, { ...started, terminated_at: null }, customer.zone, now),
  };
  await insertSubscription(ctx.db, ctx.organizationId, next);
  await saveFirstUnits(ctx, plan, { ...next, terminated_at: null, zone: customer.zone }, change.body.plan_overrides);
  await saveThresholds(ctx, next.id, change.body);
  await inheritSections(ctx, { from: current.id, to: next.id }, change.body);
  await recordSubscription(ctx, 'subscription.terminated', current.id);
  await recordSubscription(ctx, 'subscription.started', next.id);
  await recordStartUnits(ctx, next, now, customer.zone);
  await billUpgrade(ctx, change, currentPlan, next);
  return next.id;
}

/** One invoice a second later, of what ends and of what begins; two when their purchase orders, entities or currencies differ. Rule: B.5. */
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
    if (lines.length > 0) ctx.after({ job: BILL_STEP, payload: { lines, at } satisfies BillStep });
  }
}

async function downgrade(ctx: Context, change: PlanChange): Promise<string> {
  const { current, plan, customer } = change;
  await cancelPendingSuccessors(ctx, current);
  const next = successor(ctx, change, { status: 'pending', started_at: null, activated_at: null });
  await insertSubscription(ctx.db, ctx.organizationId, {
    ...next,
    progressive_billing_disabled: change.body.progressive_billing_disabled ?? current.progressive_billing_disabled,
  });
  await saveFirstUnits(ctx, plan, { ...next, terminated_at: null, zone: customer.zone }, change.body.plan_overrides);
  await saveThresholds(ctx, next.id, change.body);
  await inheritSections(ctx, { from: current.id, to: next.id }, change.body);
  await recordSubscription(ctx, 'subscription.updated', current.id);
  return current.id;
}

/** The record that follows: anchor and billing time are inherited, the rest comes from the request or else the old one. */
function successor(
  ctx: Context,
  { current, plan, body, billingEntityId }: PlanChange,
  state: Pick<NewSubscription, 'status' | 'started_at' | 'activated_at'>,
): NewSubscription {
  return {
    id: newId(),
    customer_id: current.customer_id,
    plan_id: plan.id,
    previous_subscription_id: current.id,
    external_id: current.external_id,
    billing_time: current.billing_time,
    subscription_at: current.subscription_at,
    name: null,
    ending_at: current.ending_at,
    consolidate_invoice: current.consolidate_invoice,
    progressive_billing_disabled: false,
    skip_invoice_custom_sections: current.skip_invoice_custom_sections,
    purchase_order_number: current.purchase_order_number,
    payment_method_type: null,
    payment_method_id: null,
    billing_entity_id: billingEntityId === undefined ? current.billing_entity_id : billingEntityId,
    on_termination_credit_note: null,
    on_termination_invoice: 'generate',
    next_billing_at: null,
    ...valuesOf(body),
    ...state,
    created_at: ctx.now(),
    updated_at: ctx.now(),
  };
}
