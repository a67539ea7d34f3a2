import type { Properties } from '../../../engine/pricing/charge-model.ts';
import { canonicalJson } from '../../../platform/canonical-json.ts';
import type { Context } from '../../../platform/context.ts';
import type { PlanId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { groupRows } from '../../../platform/lists/group-rows.ts';
import { CHARGES_MAX } from '../charges/most-charges.ts';
import type { CascadeFixedChargesStep } from '../fixed-charges/cascade-later.ts';
import { type FixedChargeRow, listCopiesOfFixedCharges, listFixedChargesOfPlans } from '../fixed-charges/queries.ts';
import { followUnits, type UnitsChange } from '../fixed-charges/units-of-subscriptions.ts';
import { copyTaxes, deleteFixedCharges, saveFixedCharges } from '../fixed-charges/writes.ts';
import { flagDraftInvoicesOfPlans } from '../flag-drafts.ts';
import { lockOverrides } from '../plans/lock-overrides.ts';
import { listPlansById } from '../plans/queries.ts';

/**
 * Step `cascade-fixed-charges`: a new fixed charge is copied to each override, a changed one changes those copies that
 * still equalled it, and a removed one is removed from overrides in use. Names and taxes stay. Copies take the current
 * state of the plan, and only one step of a plan changes its overrides at a time, so the order of changes does not
 * matter; safe to run twice.
 *
 * Rule: plans.md#overrides-and-cascade.
 */
export async function cascadeFixedCharges(ctx: Context, step: CascadeFixedChargesStep): Promise<void> {
  await lockOverrides(ctx, step.plan_id);
  const copies = await listCopiesOfFixedCharges(ctx, [...step.changes.map(({ id }) => id), ...step.removed_ids]);
  const copiesOf = groupRows(copies, ({ parent_id }) => parent_id);
  const parents = await listFixedChargesOfPlans(ctx, [step.plan_id]);
  const changed = step.changes.flatMap((change) => {
    const parent = parents.find(({ id }) => id === change.id);
    return parent === undefined
      ? []
      : (copiesOf.get(change.id) ?? []).flatMap((copy) => followed(copy, parent, change));
  });
  const added = await addedCopies(ctx, step, parents, copies);
  const removed = await copiesInUse(
    ctx,
    step.removed_ids.flatMap((id) => copiesOf.get(id) ?? []),
  );

  const saved = [...changed.map(({ fixedCharge }) => fixedCharge), ...added.map(({ fixedCharge }) => fixedCharge)];
  await saveFixedCharges(
    ctx,
    saved.map((fixedCharge) => ({ fixedCharge })),
    ctx.now(),
  );
  await copyTaxes(
    ctx,
    added.map(({ fixedCharge }) => ({ from: fixedCharge.parent_id!, to: fixedCharge.id })),
  );
  if (removed.length > 0) await deleteFixedCharges(ctx, removed, ctx.now());

  const units = groupRows(
    [...changed.filter(({ hasNewUnits }) => hasNewUnits), ...added],
    (each) => each.fixedCharge.plan_id,
  );
  for (const plan of await listPlansById(ctx, [...units.keys()]))
    await followUnits(ctx, plan, units.get(plan.id)!, { bills: step.bills });
  const planIds = new Set([...saved, ...copies.filter(({ id }) => removed.includes(id))].map(({ plan_id }) => plan_id));
  await flagDraftInvoicesOfPlans(ctx, [...planIds], ctx.now());
}

type Change = CascadeFixedChargesStep['changes'][number];

/** A copy with the parts of a change that it takes over; undefined when its model differs or nothing changes. */
function followed(
  copy: FixedChargeRow,
  parent: FixedChargeRow,
  { former, is_immediate }: Change,
): (UnitsChange & { fixedCharge: FixedChargeRow; hasNewUnits: boolean })[] {
  if (former === null || copy.charge_model !== former.charge_model || copy.charge_model !== parent.charge_model)
    return [];
  const isSame = isEqual(copy.properties, former.properties) && copy.units.eq(former.units);
  const { units, properties } = isSame ? parent : copy;
  const fixedCharge = { ...copy, code: parent.code, units, properties };
  return [{ fixedCharge, isImmediate: is_immediate, hasNewUnits: !units.eq(copy.units) }];
}

const isEqual = (a: Properties, b: Properties): boolean => canonicalJson(a) === canonicalJson(b);

/** Copies of new fixed charges for the overrides that have none yet, as far as they have room. */
async function addedCopies(
  ctx: Context,
  step: CascadeFixedChargesStep,
  parents: readonly FixedChargeRow[],
  copies: readonly FixedChargeRow[],
) {
  const { db, organizationId } = ctx;
  const fresh = new Map(step.changes.filter(({ former }) => former === null).map((change) => [change.id, change]));
  if (fresh.size === 0) return [];
  const plans = await db<{ id: PlanId; has_room_for: number }[]>`
    select plan.id, greatest(0, ${CHARGES_MAX} - (
      select count(*) from fixed_charges held
      where held.organization_id = plan.organization_id and held.plan_id = plan.id and held.deleted_at is null
    ))::int as has_room_for
    from plans plan
    where plan.organization_id = ${organizationId} and plan.parent_id = ${step.plan_id} and plan.deleted_at is null
    order by plan.id`;
  const has = new Set(copies.map(({ parent_id, plan_id }) => `${parent_id} ${plan_id}`));
  return plans.flatMap((plan) =>
    parents
      .filter((parent) => fresh.has(parent.id) && !has.has(`${parent.id} ${plan.id}`))
      .slice(0, plan.has_room_for)
      .map((parent) => ({
        fixedCharge: { ...parent, id: newId(), plan_id: plan.id, parent_id: parent.id, created_at: ctx.now() },
        isImmediate: fresh.get(parent.id)!.is_immediate,
      })),
  );
}

/** Ids of the copies in plans with a subscription that runs or is to start. */
async function copiesInUse(ctx: Context, copies: readonly FixedChargeRow[]): Promise<string[]> {
  if (copies.length === 0) return [];
  const used = await ctx.db<{ plan_id: PlanId }[]>`
    select distinct plan_id from subscriptions
    where organization_id = ${ctx.organizationId} and status in ('active', 'pending')
      and plan_id = any (${copies.map(({ plan_id }) => plan_id)}::uuid[])`;
  const planIds = new Set(used.map(({ plan_id }) => plan_id));
  return copies.filter(({ plan_id }) => planIds.has(plan_id)).map(({ id }) => id);
}
