import type { Context } from '../../../platform/context.ts';
import type { MetricId, TaxId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { announce } from '../../../platform/reactions.ts';
import { refuse } from '../../../platform/refusal.ts';
import { addFaults, refuseFaults } from '../../../platform/schema/faults.ts';
import { planAmountChanged } from '../announcements.ts';
import { type GivenCharge, prepareCharges } from '../charges/prepare-charges.ts';
import type { ChargeElement } from '../charges/schema.ts';
import type { ChargeShown } from '../charges/show-charges.ts';
import { deleteCharges, saveCharges } from '../charges/writes.ts';
import { applyFixedCharges, fixedChargeList } from '../fixed-charges/fixed-charges-of-plan.ts';
import { flagDraftInvoicesOfPlans } from '../flag-drafts.ts';
import { prepareCommitment, saveCommitment } from '../minimum-commitments/writes.ts';
import { findTaxesByCodes } from '../taxes/queries.ts';
import { replacePlanTaxes } from '../taxes/writes.ts';
import { keepLateEventsPolicy } from '../usage-policies/writes.ts';
import { refreshShapes } from '../usage-shapes/commands.ts';
import { markUsage } from '../usage-thresholds/usage-marks.ts';
import { replaceThresholds } from '../usage-thresholds/writes.ts';
import { announcePlan } from './announce.ts';
import { cascadeChanges } from './cascade-changes.ts';
import { definitionOf, frozenFaults } from './definition.ts';
import { findPlanByCode, hasSubscriptions, lockPlanByCode, type PlanRow } from './queries.ts';
import type { PlanCreate, PlanUpdate } from './schema.ts';
import { showPlan } from './show-plans.ts';
import { planView } from './view.ts';
import { insertPlan, markPendingDeletion, renameOverrides, updatePlanRow } from './writes.ts';

/**
 * Makes a plan with its charges.
 *
 * @throws Refusal 404 billable_metrics, tax
 * @throws Refusal 422 by field; what is wrong inside a charge stands under the charge's own field
 * Rules: plans.md#fields, charges.md.
 */
export async function createPlan(ctx: Context, { body }: { body: PlanCreate }) {
  const definition = definitionOf(body);
  const id = newId();
  const namesake = await findPlanByCode(ctx, definition.code);
  const taxIds = await taxIdsOf(ctx, body.tax_codes ?? []);
  const { charges, faults } = await prepareCharges(ctx, {
    planId: id,
    currency: definition.amount_currency,
    isFrozen: false,
    given: (body.charges ?? []).map((given, index) => ({ given, at: ['charges', index] })),
    others: [],
    missing: 'billable_metrics',
  });
  const fixed = await fixedChargeList(ctx, body.fixed_charges, { id, isFrozen: false, stored: [] });
  addFaults(faults, fixed.faults);
  const { prepared, faults: ofCommitment } = await prepareCommitment(ctx, body.minimum_commitment, null);
  addFaults(faults, ofCommitment);
  if (namesake) addFaults(faults, { code: ['value_already_exist'] });
  refuseFaults(faults);

  const commitment = prepared?.commitment ?? null;
  const state = {
    minimum_commitment: commitment,
    entitlements: [],
    pending_deletion: false,
    deleted_at: null,
    created_at: ctx.now(),
  };
  const plan: PlanRow = { id, parent_id: null, ...definition, ...state };
  await insertPlan(ctx, plan);
  await keepLateEventsPolicy(ctx, { planId: id, policies: plan.usage_policies });
  await saveCharges(ctx, charges, ctx.now());
  await applyFixedCharges(ctx, plan, fixed, { cascades: false, billsCopies: false });
  if (prepared) await saveCommitment(ctx, id, prepared, ctx.now());
  if (taxIds.length > 0) await replacePlanTaxes(ctx, id, taxIds);
  if (body.usage_thresholds)
    await replaceThresholds(ctx, { plan_id: id }, { thresholds: body.usage_thresholds, now: ctx.now() });
  await refreshShapes(ctx, metricIdsOf(charges), 'charges');

  const shown = await showPlan(ctx, plan);
  announcePlan(ctx, 'created', shown);
  return { plan: planView(shown) };
}

/**
 * Changes a plan. `charges` is the whole list: elements with the id of a charge change it, others make one, and charges
 * that are not in it are deleted. Once a subscription uses the plan, what decides its periods and models is frozen.
 * Draft invoices of the plan are computed again.
 *
 * @throws Refusal 404 plan, billable_metrics, tax, charge (an id of another plan)
 * @throws Refusal 422 by field; value_is_frozen
 * Rules: plans.md#fields, plans.md#charges-of-a-plan.
 */
export async function updatePlan(ctx: Context, { code, body }: { code: string; body: PlanUpdate }) {
  const stored = await lockPlanByCode(ctx, code);
  const definition = definitionOf(body, stored);
  const before = await showPlan(ctx, stored);
  const isFrozen = await hasSubscriptions(ctx, stored.id);
  const isRenamed = definition.code !== stored.code;
  const namesake = isRenamed ? await findPlanByCode(ctx, definition.code) : undefined;
  const taxIds = await taxIdsOf(ctx, body.tax_codes ?? []);
  const given = body.charges ? pairedWith(before.charges, body.charges) : [];
  const untouched = before.charges.filter((charge) => !given.some((each) => each.stored === charge));
  const { charges, faults } = await prepareCharges(ctx, {
    planId: stored.id,
    currency: definition.amount_currency,
    isFrozen,
    given,
    others: body.charges ? [] : untouched,
    missing: 'billable_metrics',
  });
  const fixed = await fixedChargeList(ctx, body.fixed_charges, {
    id: stored.id,
    isFrozen,
    stored: before.fixedCharges,
  });
  addFaults(faults, fixed.faults);
  if (namesake) addFaults(faults, { code: ['value_already_exist'] });
  const { prepared, faults: ofCommitment } = await prepareCommitment(
    ctx,
    body.minimum_commitment,
    stored.minimum_commitment,
  );
  addFaults(faults, ofCommitment);
  if (isFrozen) addFaults(faults, frozenFaults(body, stored, definition));
  refuseFaults(faults);

  await updatePlanRow(ctx, stored, { plan: definition, now: ctx.now() });
  await keepLateEventsPolicy(ctx, { planId: stored.id, policies: definition.usage_policies });
  if (isRenamed) await renameOverrides(ctx, stored.id, { code: definition.code, now: ctx.now() });
  if (body.charges) {
    const removed = untouched.map(({ charge }) => charge.id);
    if (removed.length > 0) await deleteCharges(ctx, removed, ctx.now());
    await saveCharges(ctx, charges, ctx.now());
    await refreshShapes(ctx, metricIdsOf([...before.charges, ...charges]), 'charges');
  }
  await applyFixedCharges(ctx, stored, fixed, { cascades: body.cascade_updates === true, billsCopies: true });
  if (body.tax_codes) await replacePlanTaxes(ctx, stored.id, taxIds);
  if (body.usage_thresholds) {
    await replaceThresholds(ctx, { plan_id: stored.id }, { thresholds: body.usage_thresholds, now: ctx.now() });
    await markUsage(ctx, { plan_id: stored.id });
  }
  if (prepared) await saveCommitment(ctx, stored.id, prepared, ctx.now());
  await flagDraftInvoicesOfPlans(ctx, [stored.id], ctx.now());
  if (definition.amount_cents !== stored.amount_cents) await announce(ctx, planAmountChanged, { plan_id: stored.id });

  const shown = await showPlan(ctx, {
    ...stored,
    ...definition,
    minimum_commitment: prepared ? prepared.commitment : stored.minimum_commitment,
  });
  if (body.cascade_updates) await cascadeChanges(ctx, before, shown);
  announcePlan(ctx, 'updated', shown, before);
  return { plan: planView(shown) };
}

/**
 * Asks for the deletion of a plan: it takes no subscription any more, and step `finish-plan-deletion` ends those it
 * has.
 *
 * @throws Refusal 404 plan
 * Rule: plans.md#deletion.
 */
export async function deletePlan(ctx: Context, { code }: { code: string }) {
  const plan = await lockPlanByCode(ctx, code);
  const shown = await showPlan(ctx, { ...plan, pending_deletion: true });
  if (plan.pending_deletion) return { plan: planView(shown) };

  await markPendingDeletion(ctx, plan.id, ctx.now());
  ctx.after({ step: 'finish-plan-deletion', payload: { plan_id: plan.id } });
  announcePlan(ctx, 'deleted', shown);
  return { plan: planView(shown) };
}

/** @throws Refusal 404 charge, for an id of another plan, or one that is given twice */
function pairedWith(stored: readonly ChargeShown[], elements: readonly ChargeElement[]): GivenCharge[] {
  const left = new Map(stored.map((shown) => [shown.charge.id, shown]));
  return elements.map((given, index) => {
    const at = ['charges', index];
    if (given.id === undefined || given.id === null) return { given, at };
    const shown = left.get(given.id.toLowerCase());
    if (!shown) throw refuse.notFound('charge');
    left.delete(shown.charge.id);
    return { given, stored: shown, at };
  });
}

const taxIdsOf = async (ctx: Context, codes: readonly string[]): Promise<TaxId[]> =>
  (await findTaxesByCodes(ctx, codes)).map(({ id }) => id);

const metricIdsOf = (charges: readonly Pick<ChargeShown, 'charge'>[]): MetricId[] => [
  ...new Set(charges.map(({ charge }) => charge.billable_metric_id)),
];
