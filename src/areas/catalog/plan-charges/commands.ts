import type { Context } from '../../../platform/context.ts';
import { refuseFaults } from '../../../platform/schema/faults.ts';
import { prepareCharges } from '../charges/prepare-charges.ts';
import type { CascadeBody, ChargeCreate, ChargeUpdate } from '../charges/schema.ts';
import { chargeView } from '../charges/view.ts';
import { deleteCharges, saveCharges } from '../charges/writes.ts';
import { hasSubscriptions } from '../plans/queries.ts';
import { changeWithinPlan, chargeOf } from './within-plan.ts';

/**
 * Adds a charge to a plan.
 *
 * @throws Refusal 404 plan, billable_metric, tax
 * @throws Refusal 422 by field
 * Rules: charges.md#fields, charges.md#combinations, charges.md#properties, groups-and-filters.md#filters-of-a-charge.
 */
export async function createPlanCharge(ctx: Context, { code, body }: { code: string; body: ChargeCreate }) {
  let id: string | undefined;
  const plan = await changeWithinPlan(ctx, code, body, async (before) => {
    const { charges, faults } = await prepareCharges(ctx, {
      planId: before.plan.id,
      currency: before.plan.amount_currency,
      isFrozen: false,
      given: [{ given: body }],
      others: before.charges,
      missing: 'billable_metric',
    });
    refuseFaults(faults);
    await saveCharges(ctx, charges, ctx.now());
    id = charges[0]!.charge.id;
    return charges.map(({ charge }) => charge.billable_metric_id);
  });
  return { charge: chargeView(plan.charges.find(({ charge }) => charge.id === id)!) };
}

/**
 * Changes a charge. Once a subscription uses the plan only its prices, filters, taxes and name may change.
 *
 * @throws Refusal 404 plan, charge, billable_metric, tax
 * @throws Refusal 422 by field; value_is_frozen
 * Rule: charges.md#fields.
 */
export async function updatePlanCharge(
  ctx: Context,
  { code, charge_code, body }: { code: string; charge_code: string; body: ChargeUpdate },
) {
  let id: string | undefined;
  const plan = await changeWithinPlan(ctx, code, body, async (before) => {
    const stored = chargeOf(before, charge_code);
    const { charges, faults } = await prepareCharges(ctx, {
      planId: before.plan.id,
      currency: before.plan.amount_currency,
      isFrozen: await hasSubscriptions(ctx, before.plan.id),
      given: [{ given: body, stored }],
      others: before.charges.filter((other) => other !== stored),
      missing: 'billable_metric',
    });
    refuseFaults(faults);
    await saveCharges(ctx, charges, ctx.now());
    id = stored.charge.id;
    return [stored, ...charges].map(({ charge }) => charge.billable_metric_id);
  });
  return { charge: chargeView(plan.charges.find(({ charge }) => charge.id === id)!) };
}

/**
 * Deletes a charge with its filters: it is billed no more, fees made with it stay.
 *
 * @throws Refusal 404 plan, charge
 */
export async function deletePlanCharge(
  ctx: Context,
  { code, charge_code, body }: { code: string; charge_code: string; body?: CascadeBody },
) {
  let answer: ReturnType<typeof chargeView> | undefined;
  await changeWithinPlan(ctx, code, body, async (before) => {
    const shown = chargeOf(before, charge_code);
    await deleteCharges(ctx, [shown.charge.id], ctx.now());
    answer = chargeView(shown);
    return [shown.charge.billable_metric_id];
  });
  return { charge: answer! };
}
