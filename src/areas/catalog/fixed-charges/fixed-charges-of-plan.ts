import type { PlanTerms } from '../../../engine/calendar/terms.ts';
import type { FieldCodes } from '../../../engine/pricing/combination-rules.ts';
import type { Context } from '../../../platform/context.ts';
import type { PlanId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { cascadeLater } from './cascade-later.ts';
import { type GivenFixedCharge, type PreparedFixedCharge, prepareFixedCharges } from './prepare-fixed-charges.ts';
import type { FixedChargeElement } from './schema.ts';
import type { FixedChargeShown } from './show-fixed-charges.ts';
import { followUnits, type UnitsChange } from './units-of-subscriptions.ts';
import { deleteFixedCharges, saveFixedCharges } from './writes.ts';

/** The fixed charges of a plan as they will be. */
export interface FixedChargeList {
  prepared: PreparedFixedCharge[];
  removedIds: string[];
  faults: FieldCodes;
}

/**
 * Reads `fixed_charges` of a plan, which is the whole list: elements with the id of a fixed charge change it, others
 * make one, and those that are not in it go. Without the list nothing changes.
 *
 * @throws Refusal 404 add_ons, tax, fixed_charge (an id of another plan)
 * Rules: plans.md#fields, plans.md#charges-of-a-plan.
 */
export async function fixedChargeList(
  ctx: Context,
  elements: readonly FixedChargeElement[] | null | undefined,
  plan: { id: PlanId; isFrozen: boolean; stored: readonly FixedChargeShown[] },
): Promise<FixedChargeList> {
  if (!elements) return { prepared: [], removedIds: [], faults: {} };
  const given = pairedWith(plan.stored, elements);
  const kept = new Set(given.map(({ stored }) => stored?.fixedCharge.id));
  const { fixedCharges, faults } = await prepareFixedCharges(ctx, {
    planId: plan.id,
    isFrozen: plan.isFrozen,
    given,
    otherCodes: [],
    missing: 'add_ons',
  });
  const removedIds = plan.stored.map(({ fixedCharge }) => fixedCharge.id).filter((id) => !kept.has(id));
  return { prepared: fixedCharges, removedIds, faults };
}

/**
 * Saves changes of a plan's fixed charges; the subscriptions of the plan follow, and those of its overrides when asked
 * for.
 *
 * @param billsCopies whether immediate units are billed at once on overrides too
 * Rules: fixed-charges.md#unit-records, fixed-charges.md#change-inside-a-period, plans.md#overrides-and-cascade.
 */
export async function applyFixedCharges(
  ctx: Context,
  plan: PlanTerms & { id: PlanId },
  { prepared, removedIds }: Omit<FixedChargeList, 'faults'>,
  { cascades, billsCopies }: { cascades: boolean; billsCopies: boolean },
): Promise<void> {
  if (prepared.length === 0 && removedIds.length === 0) return;
  if (removedIds.length > 0) await deleteFixedCharges(ctx, removedIds, ctx.now());
  await saveFixedCharges(ctx, prepared, ctx.now());
  await followUnits(ctx, plan, prepared.filter(hasNewUnits).map(unitsChange), { bills: true });
  if (cascades) cascadeLater(ctx, plan.id, { prepared, removedIds, billsCopies });
}

const hasNewUnits = ({ fixedCharge, former }: PreparedFixedCharge): boolean =>
  former === undefined || !former.units.eq(fixedCharge.units);

const unitsChange = ({ fixedCharge, isImmediate }: PreparedFixedCharge): UnitsChange => ({ fixedCharge, isImmediate });

/** @throws Refusal 404 fixed_charge, for an id of another plan, or one that is given twice */
function pairedWith(stored: readonly FixedChargeShown[], elements: readonly FixedChargeElement[]): GivenFixedCharge[] {
  const left = new Map(stored.map((shown) => [shown.fixedCharge.id, shown]));
  return elements.map((given, index) => {
    const at = ['fixed_charges', index];
    if (given.id === undefined || given.id === null) return { given, at };
    const shown = left.get(given.id.toLowerCase());
    if (!shown) throw refuse.notFound('fixed_charge');
    left.delete(shown.fixedCharge.id);
    return { given, stored: shown, at };
  });
}
