import type { Db } from '../../platform/db/connect.ts';
import { groupRows } from '../../platform/lists/group-rows.ts';
import { listChargesOfPlans } from '../charges/queries.ts';
import { type ChargeShown, showCharges } from '../charges/shown.ts';
import { listTaxesOfPlans, type TaxRow } from '../taxes/queries.ts';
import type { PlanRow } from './queries.ts';

/** A plan with all that its JSON shows. */
export interface PlanShown {
  plan: PlanRow;
  charges: ChargeShown[];
  taxes: TaxRow[];
}

/** What belongs to some plans, in their order: four statements, whatever their number. */
export async function showPlans(db: Db, organizationId: string, plans: readonly PlanRow[]): Promise<PlanShown[]> {
  const ids = plans.map(({ id }) => id);
  const [charges, taxes] = await Promise.all([
    listChargesOfPlans(db, organizationId, ids).then((rows) => showCharges(db, organizationId, rows)),
    listTaxesOfPlans(db, organizationId, ids),
  ]);
  const chargesOf = groupRows(charges, ({ charge }) => charge.plan_id);
  const taxesOf = groupRows(taxes, ({ plan_id }) => plan_id);
  return plans.map((plan) => ({
    plan,
    charges: chargesOf.get(plan.id) ?? [],
    taxes: taxesOf.get(plan.id) ?? [],
  }));
}

/** One plan with all that its JSON shows. */
export async function showPlan(db: Db, organizationId: string, plan: PlanRow): Promise<PlanShown> {
  const [shown] = await showPlans(db, organizationId, [plan]);
  return shown!;
}
