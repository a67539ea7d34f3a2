import type { Scope } from '../../../platform/db/scope.ts';
import { groupRows } from '../../../platform/lists/group-rows.ts';
import { listChargesOfPlans } from '../charges/queries.ts';
import { type ChargeShown, showCharges } from '../charges/show-charges.ts';
import { listFixedChargesOfPlans } from '../fixed-charges/queries.ts';
import type { FixedChargeShown } from '../fixed-charges/show-fixed-charges.ts';
import { listTaxesOfPlans, type TaxRow } from '../taxes/queries.ts';
import { listThresholdsOfPlans, type UsageThresholdRow } from '../usage-thresholds/queries.ts';
import type { PlanRow } from './queries.ts';

/** A plan with all that its JSON shows. */
export interface PlanShown {
  plan: PlanRow;
  charges: ChargeShown[];
  fixedCharges: FixedChargeShown[];
  taxes: TaxRow[];
  thresholds: UsageThresholdRow[];
  /** Its own thresholds, or else those of the plan that it overrides. */
  applicableThresholds: UsageThresholdRow[];
  commitmentTaxes: TaxRow[];
}

/** What belongs to some plans, in their order: five statements, whatever their number. */
export async function showPlans(scope: Scope, plans: readonly PlanRow[]): Promise<PlanShown[]> {
  const ids = plans.map(({ id }) => id);
  const parentIds = plans.flatMap(({ parent_id }) => parent_id ?? []);
  const [charges, fixedCharges, taxes, thresholds] = await Promise.all([
    listChargesOfPlans(scope, ids).then((rows) => showCharges(scope, rows, [])),
    listFixedChargesOfPlans(scope, ids),
    listTaxesOfPlans(scope, ids),
    listThresholdsOfPlans(scope, [...ids, ...parentIds]),
  ]);
  const taxesOf = groupRows(taxes, ({ holder, holder_id }) => `${holder} ${holder_id}`);
  const withTaxes = charges.map((shown) => ({ ...shown, taxes: taxesOf.get(`charge ${shown.charge.id}`) ?? [] }));
  const fixedWithTaxes = fixedCharges.map((fixedCharge) => ({
    fixedCharge,
    taxes: taxesOf.get(`fixed_charge ${fixedCharge.id}`) ?? [],
  }));
  const fixedChargesOf = groupRows(fixedWithTaxes, ({ fixedCharge }) => fixedCharge.plan_id);
  const chargesOf = groupRows(withTaxes, ({ charge }) => charge.plan_id);
  const thresholdsOf = groupRows(thresholds, ({ plan_id }) => plan_id);
  return plans.map((plan) => ({
    plan,
    thresholds: thresholdsOf.get(plan.id) ?? [],
    applicableThresholds: thresholdsOf.get(plan.id) ?? thresholdsOf.get(plan.parent_id ?? '') ?? [],
    charges: chargesOf.get(plan.id) ?? [],
    fixedCharges: fixedChargesOf.get(plan.id) ?? [],
    taxes: taxesOf.get(`plan ${plan.id}`) ?? [],
    commitmentTaxes: taxesOf.get(`commitment ${plan.id}`) ?? [],
  }));
}

/** One plan with all that its JSON shows. */
export async function showPlan(scope: Scope, plan: PlanRow): Promise<PlanShown> {
  const [shown] = await showPlans(scope, [plan]);
  return shown!;
}
