import type { Context } from '../../../platform/context.ts';
import type { PlanId, SubscriptionId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import type { PreparedCharge } from '../charges/prepare-charges.ts';
import type { ChargeShown } from '../charges/show-charges.ts';
import { saveCharges } from '../charges/writes.ts';
import { copyFixedCharges } from '../fixed-charges/overrides.ts';
import { saveCommitment } from '../minimum-commitments/writes.ts';
import { replacePlanTaxes } from '../taxes/writes.ts';
import type { PlanRow } from './queries.ts';
import { type PlanShown, showPlan } from './show-plans.ts';
import { insertPlan } from './writes.ts';

/**
 * Makes a hidden copy of a plan, its override: with its code, charges, filters, fixed charges, taxes and minimum
 * commitment, each linked to the one that it was made from. Thresholds are not copied, those of the plan are read.
 *
 * @param subscriptionId whose own units of fixed charges the copy takes over
 * Rule: plans.md#overrides-and-cascade.
 */
export async function copyPlan(ctx: Context, parent: PlanShown, subscriptionId?: SubscriptionId): Promise<PlanShown> {
  const now = ctx.now();
  const commitment = parent.plan.minimum_commitment && { ...parent.plan.minimum_commitment, id: newId() };
  const plan: PlanRow = {
    ...parent.plan,
    id: newId(),
    parent_id: parent.plan.id,
    minimum_commitment: commitment,
    pending_deletion: false,
    deleted_at: null,
    created_at: now,
  };
  await insertPlan(ctx, plan);
  await saveCharges(
    ctx,
    parent.charges.map((shown) => copyOfCharge(ctx, shown, plan.id)),
    now,
  );
  await copyFixedCharges(ctx, {
    fromPlanId: parent.plan.id,
    toPlanId: plan.id,
    ...(subscriptionId && { subscriptionId }),
  });
  if (parent.taxes.length > 0)
    await replacePlanTaxes(
      ctx,
      plan.id,
      parent.taxes.map(({ id }) => id),
    );
  if (commitment)
    await saveCommitment(ctx, plan.id, { commitment, taxIds: parent.commitmentTaxes.map(({ id }) => id) }, now);
  return showPlan(ctx, plan);
}

/** A charge as a copy of a plan gets it: with its filters and taxes, linked to the one that it was made from. */
export function copyOfCharge(ctx: Context, { charge, filters, taxes }: ChargeShown, planId: PlanId): PreparedCharge {
  const id = newId();
  return {
    charge: { ...charge, id, plan_id: planId, parent_id: charge.id, created_at: ctx.now() },
    filters: filters.map((filter) => ({ ...filter, id: newId(), charge_id: id, created_at: ctx.now() })),
    taxIds: taxes.map((tax) => tax.id),
  };
}
