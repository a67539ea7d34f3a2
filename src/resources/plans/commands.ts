import type { Context } from '../../platform/context.ts';
import { newId } from '../../platform/ids.ts';
import { refuse } from '../../platform/refusal.ts';
import { addFaults, refuseFaults } from '../charges/faults.ts';
import { type GivenCharge, prepareCharges } from '../charges/prepare.ts';
import type { ChargeRow } from '../charges/queries.ts';
import type { ChargeElement } from '../charges/schema.ts';
import { deleteCharges, saveCharges } from '../charges/writes.ts';
import { findTaxesByCodes, replacePlanTaxes } from '../taxes/queries.ts';
import { refreshShapes } from '../usage-shapes/commands.ts';
import { followAmountChange } from './amount-change.ts';
import { announcePlan } from './announce.ts';
import { definitionOf, frozenFaults } from './definition.ts';
import { flagDraftInvoicesOfPlans } from './drafts.ts';
import { findPlanByCode, hasSubscriptions, lockPlanByCode, type PlanRow } from './queries.ts';
import type { PlanCreate, PlanUpdate } from './schema.ts';
import { showPlan } from './shown.ts';
import { planView } from './view.ts';
import { insertPlan, markPendingDeletion, updatePlanRow } from './writes.ts';

/**
 * Makes a plan with its charges.
 *
 * @throws Refusal 404 billable_metrics, tax
 * @throws Refusal 422 by field; what is wrong inside a charge stands under the charge's own field
 * Rules: subscriptions-and-invoices A.1, usage-and-charges D.
 */
export async function createPlan(ctx: Context, { body }: { body: PlanCreate }) {
  const definition = definitionOf(body);
  const id = newId();
  const [namesake, taxes, prepared] = await Promise.all([
    findPlanByCode(ctx.db, ctx.organizationId, definition.code),
    findTaxesByCodes(ctx.db, ctx.organizationId, body.tax_codes ?? []),
    prepareCharges(ctx, {
      planId: id,
      isFrozen: false,
      given: (body.charges ?? []).map((given) => ({ given })),
      otherCodes: [],
      missing: 'billable_metrics',
    }),
  ]);
  if (namesake) addFaults(prepared.faults, { code: ['value_already_exist'] });
  refuseFaults(prepared.faults);

  const plan: PlanRow = {
    id,
    parent_id: null,
    ...definition,
    pending_deletion: false,
    deleted_at: null,
    created_at: ctx.now(),
  };
  await insertPlan(ctx.db, ctx.organizationId, plan);
  await saveCharges(ctx.db, ctx.organizationId, prepared, ctx.now());
  if (taxes.length > 0)
    await replacePlanTaxes(
      ctx.db,
      ctx.organizationId,
      id,
      taxes.map((tax) => tax.id),
    );
  if (prepared.charges.length > 0) await refreshShapes(ctx, metricIdsOf(prepared.charges), 'charges');

  const shown = await showPlan(ctx.db, ctx.organizationId, plan);
  announcePlan(ctx, 'created', shown);
  return { plan: planView(shown) };
}

/**
 * Changes a plan. `charges` is the whole list: elements with the id of a charge change it, others make one, and charges
 * that are not in it are deleted. Once a subscription uses the plan, what decides its periods and models is frozen.
 * Draft invoices of the plan are computed anew.
 *
 * @throws Refusal 404 plan, billable_metrics, tax, charge (an id that is none of the plan's)
 * @throws Refusal 422 by field; value_is_frozen
 * Rules: subscriptions-and-invoices A.1, A.3.
 */
export async function updatePlan(ctx: Context, { code, body }: { code: string; body: PlanUpdate }) {
  const stored = await lockPlanByCode(ctx.db, ctx.organizationId, code);
  const definition = definitionOf(body, stored);
  const [before, isFrozen, namesake, taxes] = await Promise.all([
    showPlan(ctx.db, ctx.organizationId, stored),
    hasSubscriptions(ctx.db, ctx.organizationId, stored.id),
    definition.code === stored.code ? undefined : findPlanByCode(ctx.db, ctx.organizationId, definition.code),
    findTaxesByCodes(ctx.db, ctx.organizationId, body.tax_codes ?? []),
  ]);
  const storedCharges = before.charges.map(({ charge }) => charge);
  const given = body.charges ? pairedWith(storedCharges, body.charges) : [];
  const removed = body.charges ? storedCharges.filter((charge) => !given.some(({ stored }) => stored === charge)) : [];
  const prepared = await prepareCharges(ctx, {
    planId: stored.id,
    isFrozen,
    given,
    otherCodes: body.charges ? [] : storedCharges.map((charge) => charge.code),
    missing: 'billable_metrics',
  });
  if (namesake) addFaults(prepared.faults, { code: ['value_already_exist'] });
  if (isFrozen) addFaults(prepared.faults, frozenFaults(body, stored, definition));
  refuseFaults(prepared.faults);

  await updatePlanRow(ctx.db, ctx.organizationId, stored.id, definition, ctx.now());
  if (removed.length > 0)
    await deleteCharges(
      ctx.db,
      ctx.organizationId,
      removed.map(({ id }) => id),
      ctx.now(),
    );
  await saveCharges(ctx.db, ctx.organizationId, prepared, ctx.now());
  if (body.tax_codes)
    await replacePlanTaxes(
      ctx.db,
      ctx.organizationId,
      stored.id,
      taxes.map((tax) => tax.id),
    );
  if (body.charges) await refreshShapes(ctx, metricIdsOf([...storedCharges, ...prepared.charges]), 'charges');
  await flagDraftInvoicesOfPlans(ctx.db, ctx.organizationId, [stored.id], ctx.now());
  if (definition.amount_cents !== stored.amount_cents) await followAmountChange(ctx, stored.id);

  const shown = await showPlan(ctx.db, ctx.organizationId, { ...stored, ...definition });
  announcePlan(ctx, 'updated', shown, before);
  return { plan: planView(shown) };
}

/**
 * Asks for the deletion of a plan: it takes no subscription any more, and step `finish-plan-deletion` ends those it has.
 *
 * @throws Refusal 404 plan
 * Rule: subscriptions-and-invoices A.6.
 */
export async function deletePlan(ctx: Context, { code }: { code: string }) {
  const plan = await lockPlanByCode(ctx.db, ctx.organizationId, code);
  const shown = await showPlan(ctx.db, ctx.organizationId, { ...plan, pending_deletion: true });
  if (plan.pending_deletion) return { plan: planView(shown) };

  await markPendingDeletion(ctx.db, ctx.organizationId, plan.id, ctx.now());
  ctx.after({ job: 'finish-plan-deletion', payload: { plan_id: plan.id } });
  announcePlan(ctx, 'deleted', shown);
  return { plan: planView(shown) };
}

/** @throws Refusal 404 charge, for an id that is none of the plan's or stands twice */
function pairedWith(stored: readonly ChargeRow[], elements: readonly ChargeElement[]): GivenCharge[] {
  const left = new Map(stored.map((charge) => [charge.id, charge]));
  return elements.map((given) => {
    if (given.id === undefined || given.id === null) return { given };
    const charge = left.get(given.id.toLowerCase());
    if (!charge) throw refuse.notFound('charge');
    left.delete(charge.id);
    return { given, stored: charge };
  });
}

const metricIdsOf = (charges: readonly ChargeRow[]): string[] => [
  ...new Set(charges.map(({ billable_metric_id }) => billable_metric_id)),
];
