import type { PlanTerms, SubscriptionTerms } from '../../../engine/calendar/terms.ts';
import { decimal } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import type { PlanId, SubscriptionId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { refuseFaults } from '../../../platform/schema/faults.ts';
import { type GivenFixedCharge, prepareFixedCharges } from './prepare-fixed-charges.ts';
import { type FixedChargeRow, listFixedChargesOfPlans, unitsOverridesOf } from './queries.ts';
import type { FixedChargeOverrideElement } from './schema.ts';
import { showFixedCharges } from './show-fixed-charges.ts';
import { changeUnits, followUnits, type UnitsChange } from './units-of-subscriptions.ts';
import { copyTaxes, dropUnitsOverrides, saveFixedCharges, saveUnitsOverrides } from './writes.ts';

const UNITS_FIELDS = new Set(['id', 'units', 'apply_units_immediately']);

/** Whether an override sets only units, which needs no copy of the plan. Rule: fixed-charges.md#override. */
export const isUnitsOnly = (elements: readonly object[]): boolean =>
  elements.every((element) =>
    Object.entries(element).every(([field, value]) => UNITS_FIELDS.has(field) || value === undefined),
  );

/** A subscription that gets units of its own. */
export interface UnitsHolder extends SubscriptionTerms {
  id: SubscriptionId;
  status: string;
  /** Applicable zone of the customer. */
  zone: string;
}

/**
 * Gives one subscription units of its own: changes of its plan's units no longer reach it.
 *
 * @param isNew the subscription is about to start, and its start records the units
 * @throws Refusal 404 fixed_charge; 403 cannot_override_charge_model
 * Rules: fixed-charges.md#unit-records, fixed-charges.md#change-inside-a-period, fixed-charges.md#override.
 */
export async function overrideUnits(
  ctx: Context,
  plan: PlanTerms & { id: PlanId },
  subscription: UnitsHolder,
  elements: readonly FixedChargeOverrideElement[],
  { isNew = false }: { isNew?: boolean } = {},
): Promise<void> {
  const stored = await listFixedChargesOfPlans(ctx, [plan.id]);
  const changes = pairedWith(stored, elements).flatMap(({ fixedCharge, element }): UnitsChange[] => {
    if (element.units === undefined) return [];
    return [
      {
        fixedCharge: { ...fixedCharge, units: decimal(element.units) },
        isImmediate: element.apply_units_immediately ?? false,
      },
    ];
  });
  const overrides = changes.map(({ fixedCharge }) => ({ fixed_charge_id: fixedCharge.id, units: fixedCharge.units }));
  await saveUnitsOverrides(ctx, subscription.id, { overrides, now: ctx.now() });
  if (!isNew) await changeUnits(ctx, plan, subscription, changes, { bills: true });
}

/**
 * Copies the fixed charges of a plan with their taxes to a plan that overrides it. Units that the subscription had of
 * its own become the copy's.
 *
 * Rules: plans.md#overrides-and-cascade, fixed-charges.md#override.
 */
export async function copyFixedCharges(
  ctx: Context,
  { fromPlanId, toPlanId, subscriptionId }: { fromPlanId: PlanId; toPlanId: PlanId; subscriptionId?: SubscriptionId },
): Promise<void> {
  const parents = await listFixedChargesOfPlans(ctx, [fromPlanId]);
  if (parents.length === 0) return;
  const own = subscriptionId === undefined ? new Map() : await unitsOverridesOf(ctx, subscriptionId);
  const copies = parents.map((parent) => ({
    fixedCharge: {
      ...parent,
      id: newId(),
      plan_id: toPlanId,
      parent_id: parent.id,
      units: own.get(parent.id) ?? parent.units,
    },
  }));
  await saveFixedCharges(ctx, copies, ctx.now());
  await copyTaxes(
    ctx,
    copies.map(({ fixedCharge }) => ({ from: fixedCharge.parent_id, to: fixedCharge.id })),
  );
  if (subscriptionId !== undefined) await dropUnitsOverrides(ctx, subscriptionId);
}

/**
 * Changes fixed charges of a plan that overrides another, named by their own ids or by their parents'; those not named
 * stay. The subscription of the plan follows new units.
 *
 * @throws Refusal 404 fixed_charge, tax; 403 cannot_override_charge_model; 422 by field
 */
export async function overrideFixedCharges(
  ctx: Context,
  plan: PlanTerms & { id: PlanId },
  elements: readonly FixedChargeOverrideElement[],
): Promise<void> {
  const stored = await listFixedChargesOfPlans(ctx, [plan.id]);
  const shown = new Map((await showFixedCharges(ctx, stored)).map((each) => [each.fixedCharge.id, each]));
  const given = pairedWith(stored, elements).map(({ fixedCharge, element }, index): GivenFixedCharge => {
    const { id: _id, ...fields } = element;
    return { given: fields, stored: shown.get(fixedCharge.id), at: ['plan_overrides', 'fixed_charges', index] };
  });
  const { fixedCharges, faults } = await prepareFixedCharges(ctx, {
    planId: plan.id,
    isFrozen: true,
    given,
    otherCodes: [],
    missing: 'add_on',
  });
  refuseFaults(faults);
  await saveFixedCharges(ctx, fixedCharges, ctx.now());
  const changes = fixedCharges.filter((_each, index) => elements[index]!.units !== undefined);
  await followUnits(ctx, plan, changes, { bills: true });
}

function pairedWith(stored: readonly FixedChargeRow[], elements: readonly FixedChargeOverrideElement[]) {
  return elements.map((element) => {
    const id = element.id.toLowerCase();
    const fixedCharge = stored.find((each) => each.id === id || each.parent_id === id);
    if (!fixedCharge) throw refuse.notFound('fixed_charge');
    if (element.charge_model !== undefined && element.charge_model !== fixedCharge.charge_model)
      throw refuse.forbidden('cannot_override_charge_model');
    return { fixedCharge, element };
  });
}
