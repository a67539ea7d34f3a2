import type { Context } from '../../../platform/context.ts';
import { refuse } from '../../../platform/refusal.ts';
import { refuseFaults } from '../../../platform/schema/faults.ts';
import { TOO_LONG } from '../../../platform/schema/fields.ts';
import { CHARGES_MAX } from '../charges/most-charges.ts';
import { applyFixedCharges, type FixedChargeList } from '../fixed-charges/fixed-charges-of-plan.ts';
import { prepareFixedCharges } from '../fixed-charges/prepare-fixed-charges.ts';
import type { FixedChargeElement } from '../fixed-charges/schema.ts';
import type { FixedChargeShown } from '../fixed-charges/show-fixed-charges.ts';
import { fixedChargeView } from '../fixed-charges/view.ts';
import { flagDraftInvoicesOfPlans } from '../flag-drafts.ts';
import { announcePlan } from '../plans/announce.ts';
import { hasSubscriptions, lockPlanByCode } from '../plans/queries.ts';
import { type PlanShown, showPlan } from '../plans/show-plans.ts';

/**
 * Adds a fixed charge to a plan.
 *
 * @throws Refusal 404 plan, add_on, tax; 422 by field
 * Rule: fixed-charges.md#fields.
 */
export async function createPlanFixedCharge(ctx: Context, { code, body }: { code: string; body: FixedChargeElement }) {
  let id: string | undefined;
  const after = await changeWithinPlan(ctx, code, body, async (before) => {
    if (before.fixedCharges.length >= CHARGES_MAX) throw refuse.invalid({ fixed_charges: [TOO_LONG] });
    const { fixedCharges, faults } = await prepareFixedCharges(ctx, {
      planId: before.plan.id,
      isFrozen: false,
      given: [{ given: body }],
      otherCodes: before.fixedCharges.map(({ fixedCharge }) => fixedCharge.code),
      missing: 'add_on',
    });
    refuseFaults(faults);
    id = fixedCharges[0]!.fixedCharge.id;
    return { prepared: fixedCharges, removedIds: [] };
  });
  return { fixed_charge: fixedChargeView(after.fixedCharges.find(({ fixedCharge }) => fixedCharge.id === id)!) };
}

interface Address {
  code: string;
  fixed_charge_code: string;
}

/**
 * Changes a fixed charge; its add-on and when it is paid never change, its model and code only while the plan has no
 * subscription.
 *
 * @throws Refusal 404 plan, fixed_charge, tax; 422 by field; value_is_frozen
 */
export async function updatePlanFixedCharge(
  ctx: Context,
  { code, fixed_charge_code, body }: Address & { body: FixedChargeElement },
) {
  let id: string | undefined;
  const after = await changeWithinPlan(ctx, code, body, async (before) => {
    const stored = fixedChargeOf(before, fixed_charge_code);
    const { fixedCharges, faults } = await prepareFixedCharges(ctx, {
      planId: before.plan.id,
      isFrozen: await hasSubscriptions(ctx, before.plan.id),
      given: [{ given: body, stored }],
      otherCodes: before.fixedCharges
        .map(({ fixedCharge }) => fixedCharge.code)
        .filter((other) => other !== fixed_charge_code),
      missing: 'add_on',
    });
    refuseFaults(faults);
    id = stored.fixedCharge.id;
    return { prepared: fixedCharges, removedIds: [] };
  });
  return { fixed_charge: fixedChargeView(after.fixedCharges.find(({ fixedCharge }) => fixedCharge.id === id)!) };
}

/**
 * Deletes a fixed charge: it is billed no more, and nothing is paid back.
 *
 * @throws Refusal 404 plan, fixed_charge
 */
export async function deletePlanFixedCharge(
  ctx: Context,
  { code, fixed_charge_code, body }: Address & { body?: { cascade_updates?: boolean | null } },
) {
  let answer: ReturnType<typeof fixedChargeView> | undefined;
  await changeWithinPlan(ctx, code, body ?? {}, async (before) => {
    const shown = fixedChargeOf(before, fixed_charge_code);
    answer = fixedChargeView(shown);
    return { prepared: [], removedIds: [shown.fixedCharge.id] };
  });
  return { fixed_charge: answer! };
}

/** Changes fixed charges of one plan, locked first; its drafts are flagged and the change of the plan is announced. */
async function changeWithinPlan(
  ctx: Context,
  planCode: string,
  { cascade_updates }: { cascade_updates?: boolean | null | undefined },
  change: (before: PlanShown) => Promise<Omit<FixedChargeList, 'faults'>>,
): Promise<PlanShown> {
  const plan = await lockPlanByCode(ctx, planCode);
  const before = await showPlan(ctx, plan);
  const changes = await change(before);
  await applyFixedCharges(ctx, plan, changes, { cascades: cascade_updates === true, billsCopies: false });
  await flagDraftInvoicesOfPlans(ctx, [plan.id], ctx.now());
  const after = await showPlan(ctx, plan);
  announcePlan(ctx, 'updated', after, before);
  return after;
}

/** @throws Refusal 404 fixed_charge */
function fixedChargeOf({ fixedCharges }: PlanShown, code: string): FixedChargeShown {
  const found = fixedCharges.find(({ fixedCharge }) => fixedCharge.code === code);
  if (!found) throw refuse.notFound('fixed_charge');
  return found;
}
