import type { FieldCodes } from '../../../engine/pricing/combination-rules.ts';
import type { Context } from '../../../platform/context.ts';
import { announce } from '../../../platform/reactions.ts';
import { refuse } from '../../../platform/refusal.ts';
import { addFaults, faultsBelow, refuseFaults } from '../../../platform/schema/faults.ts';
import { planAmountChanged } from '../announcements.ts';
import { type GivenCharge, prepareCharges } from '../charges/prepare-charges.ts';
import type { ChargeElement } from '../charges/schema.ts';
import { saveCharges } from '../charges/writes.ts';
import { overrideFixedCharges } from '../fixed-charges/overrides.ts';
import { flagDraftInvoicesOfPlans } from '../flag-drafts.ts';
import { prepareCommitment, saveCommitment } from '../minimum-commitments/writes.ts';
import { findTaxesByCodes } from '../taxes/queries.ts';
import { replacePlanTaxes } from '../taxes/writes.ts';
import { refreshShapes } from '../usage-shapes/commands.ts';
import { markUsage } from '../usage-thresholds/usage-marks.ts';
import { replaceThresholds } from '../usage-thresholds/writes.ts';
import { definitionOf } from './definition.ts';
import type { PlanOverrides } from './override-schema.ts';
import type { PlanShown } from './show-plans.ts';
import { updatePlanRow } from './writes.ts';

/** Fields of a plan that no override changes. Rule: plans.md#overrides-and-cascade. */
const NOT_OVERRIDABLE = [
  'code',
  'interval',
  'pay_in_advance',
  'bill_charges_monthly',
  'bill_fixed_charges_monthly',
] as const;

/**
 * Changes the copy of a plan in place: what is absent stays. Charges are named by the id of the plan's charge or of the
 * copy's own, fixed charges likewise; models, metrics and timing cannot change, the spending minimum can.
 *
 * @throws Refusal 404 charge, fixed_charge, tax; 403 cannot_override_charge_model
 * @throws Refusal 422 by field, below `plan_overrides`; value_is_frozen
 * Rule: plans.md#overrides-and-cascade.
 */
export async function changeOverride(ctx: Context, copy: PlanShown, given: PlanOverrides): Promise<void> {
  const { plan } = copy;
  const definition = definitionOf(withoutFixed(given), plan);
  const taxIds = (await findTaxesByCodes(ctx, given.tax_codes ?? [])).map(({ id }) => id);
  const overridden = pairedWithCopies(copy, given.charges ?? []);
  const { charges, faults } = await prepareCharges(ctx, {
    planId: plan.id,
    currency: definition.amount_currency,
    isFrozen: true,
    isOverride: true,
    given: overridden,
    others: copy.charges.filter((charge) => !overridden.some(({ stored }) => stored === charge)),
    missing: 'billable_metrics',
  });
  const { prepared, faults: ofCommitment } = await prepareCommitment(
    ctx,
    given.minimum_commitment,
    plan.minimum_commitment,
  );
  addFaults(faults, ofCommitment);
  addFaults(faults, notOverridable(given, plan));
  refuseFaults(faultsBelow('plan_overrides', faults));

  await updatePlanRow(ctx, plan, { plan: definition, now: ctx.now() });
  if (charges.length > 0) {
    await saveCharges(ctx, charges, ctx.now());
    const metricIds = charges.map(({ charge }) => charge.billable_metric_id);
    await refreshShapes(ctx, [...new Set(metricIds)], 'charges');
  }
  if (given.fixed_charges?.length) await overrideFixedCharges(ctx, plan, given.fixed_charges);
  if (given.tax_codes) await replacePlanTaxes(ctx, plan.id, taxIds);
  if (prepared) await saveCommitment(ctx, plan.id, prepared, ctx.now());
  if (given.usage_thresholds) {
    await replaceThresholds(ctx, { plan_id: plan.id }, { thresholds: given.usage_thresholds, now: ctx.now() });
    await markUsage(ctx, { plan_id: plan.id });
  }
  await flagDraftInvoicesOfPlans(ctx, [plan.id], ctx.now());
  if (definition.amount_cents !== plan.amount_cents) await announce(ctx, planAmountChanged, { plan_id: plan.id });
}

const withoutFixed = ({ charges: _charges, fixed_charges: _fixed, ...given }: PlanOverrides) =>
  Object.fromEntries(
    Object.entries(given).filter(([field]) => !(NOT_OVERRIDABLE as readonly string[]).includes(field)),
  );

/** @throws Refusal 404 charge, for an element that names none of the copy's or one twice */
function pairedWithCopies({ charges }: PlanShown, elements: readonly ChargeElement[]): GivenCharge[] {
  const left = [...charges];
  return elements.map((given, position) => {
    const id = given.id?.toLowerCase();
    const index = left.findIndex(({ charge }) => charge.id === id || charge.parent_id === id);
    if (id === undefined || index < 0) throw refuse.notFound('charge');
    return { given, stored: left.splice(index, 1)[0], at: ['charges', position] };
  });
}

function notOverridable(given: PlanOverrides, plan: PlanShown['plan']): FieldCodes {
  const wrong = NOT_OVERRIDABLE.filter((field) => given[field] !== undefined && given[field] !== plan[field]);
  return Object.fromEntries(wrong.map((field) => [field, ['value_is_frozen']]));
}
