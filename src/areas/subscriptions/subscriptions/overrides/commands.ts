import type { Context } from '../../../../platform/context.ts';
import type { ChargeFilterId } from '../../../../platform/ids.ts';
import { refuse } from '../../../../platform/refusal.ts';
import { refuseFaults } from '../../../../platform/schema/faults.ts';
import { identityOf } from '../../../catalog/charges/filter-values.ts';
import { prepareCharges } from '../../../catalog/charges/prepare-charges.ts';
import type { ChargeFilterRow } from '../../../catalog/charges/queries.ts';
import type { ChargeFilterCreate, ChargeFilterUpdate, ChargeUpdate } from '../../../catalog/charges/schema.ts';
import type { ChargeShown } from '../../../catalog/charges/show-charges.ts';
import { chargeFilterView, chargeView } from '../../../catalog/charges/view.ts';
import { deleteFilter, saveCharges } from '../../../catalog/charges/writes.ts';
import { flagDraftInvoicesOfPlans } from '../../../catalog/flag-drafts.ts';
import { addFilter, editFilter } from '../../../catalog/plan-charges/filter-commands.ts';
import { chargeOf } from '../../../catalog/plan-charges/within-plan.ts';
import { type PlanShown, showPlan } from '../../../catalog/plans/show-plans.ts';
import { refreshShapes } from '../../../catalog/usage-shapes/commands.ts';
import { recordSubscription } from '../announce.ts';
import { lockRecords } from '../commands/terminate.ts';
import { getShown } from '../queries.ts';
import { lockPlansOf, ownPlan } from './override-plan.ts';
import { findFilterMeant } from './reads.ts';
import type { OverrideQuery } from './schema.ts';

export interface Address {
  external_id: string;
  charge_code: string;
  query: OverrideQuery;
}

/**
 * Changes a charge for one subscription: prices, spending minimum, name, filters, taxes, rate of its pricing unit.
 *
 * @throws Refusal 404 subscription, charge, tax; 422 by field; value_is_frozen
 * Rule: charges.md#overrides.
 */
export async function overrideCharge(ctx: Context, { body, ...address }: Address & { body: ChargeUpdate }) {
  const after = await changeOwnCharge(ctx, address, async ({ plan, shown }) => {
    const { charges, faults } = await prepareCharges(ctx, {
      planId: plan.plan.id,
      currency: plan.plan.amount_currency,
      isFrozen: true,
      isOverride: true,
      given: [{ given: body, stored: shown }],
      others: plan.charges.filter((other) => other !== shown),
      missing: 'billable_metric',
    });
    refuseFaults(faults);
    await saveCharges(ctx, charges, ctx.now());
  });
  return { charge: chargeView(after) };
}

/** Adds a filter for one subscription. @throws Refusal 404 subscription, charge; 422 as addFilter */
export async function createOwnFilter(ctx: Context, { body, ...address }: Address & { body: ChargeFilterCreate }) {
  let filter: ChargeFilterRow | undefined;
  const after = await changeOwnCharge(ctx, address, async ({ plan, shown }) => {
    filter = await addFilter(ctx, plan, shown, body);
  });
  return { filter: chargeFilterView(filter!, after.charge) };
}

/** Changes a filter for one subscription. @throws Refusal 404 subscription, charge, charge_filter; 422 as editFilter */
export async function updateOwnFilter(
  ctx: Context,
  { body, filter_id, ...address }: Address & { filter_id: ChargeFilterId; body: ChargeFilterUpdate },
) {
  let filter: ChargeFilterRow | undefined;
  const after = await changeOwnCharge(ctx, address, async ({ shown }) => {
    filter = await editFilter(ctx, shown, await filterMeant(ctx, shown, filter_id), body);
  });
  return { filter: chargeFilterView(filter!, after.charge) };
}

/** Removes a filter for one subscription and answers it. @throws Refusal 404 subscription, charge, charge_filter */
export async function deleteOwnFilter(
  ctx: Context,
  { filter_id, ...address }: Address & { filter_id: ChargeFilterId },
) {
  let filter: ChargeFilterRow | undefined;
  const after = await changeOwnCharge(ctx, address, async ({ shown }) => {
    filter = await filterMeant(ctx, shown, filter_id);
    await deleteFilter(ctx, filter.id, ctx.now());
  });
  return { filter: chargeFilterView(filter!, after.charge) };
}

/** Changes a subscription's copy of a charge; the copy is made the first time. */
async function changeOwnCharge(
  ctx: Context,
  { external_id, charge_code, query }: Address,
  change: (own: { plan: PlanShown; shown: ChargeShown }) => Promise<void>,
): Promise<ChargeShown> {
  await lockPlansOf(ctx, external_id);
  const records = await lockRecords(ctx, external_id);
  const subscription = records.findLast(({ status }) => status === query.subscription_status);
  if (!subscription) throw refuse.notFound('subscription');
  const before = await getShown(ctx, subscription.id);
  const plan = await ownPlan(ctx, subscription);
  const shown = chargeOf(plan, charge_code);
  await change({ plan, shown });
  await refreshShapes(ctx, [shown.charge.billable_metric_id], 'charges');
  await flagDraftInvoicesOfPlans(ctx, [plan.plan.id], ctx.now());
  await recordSubscription(ctx, 'subscription.updated', subscription.id, before);
  return chargeOf(await showPlan(ctx, plan.plan), charge_code);
}

/** The filter of a copy by an id: its own, or the one with the values of the plan's filter. */
async function filterMeant(ctx: Context, { charge, filters }: ChargeShown, id: string): Promise<ChargeFilterRow> {
  const named = await findFilterMeant(ctx, charge, id);
  const filter = named && filters.find(({ values }) => identityOf(values) === identityOf(named.values));
  if (!filter) throw refuse.notFound('charge_filter');
  return filter;
}
