import { isDeepStrictEqual } from 'node:util';
import { decimal } from '../../../engine/money/decimal.ts';
import type { Properties } from '../../../engine/pricing/charge-model.ts';
import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { ChargeId, PlanId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { announce } from '../../../platform/reactions.ts';
import { planAmountChanged } from '../announcements.ts';
import { filterCode, identityOf } from '../charges/filter-values.ts';
import { CHARGES_MAX, roomForFilters } from '../charges/most-charges.ts';
import type { PreparedCharge } from '../charges/prepare-charges.ts';
import { type ChargeFilterRow, type ChargeRow, listChargesOfPlans } from '../charges/queries.ts';
import { type ChargeShown, showCharges } from '../charges/show-charges.ts';
import { deleteCharges, saveCharges } from '../charges/writes.ts';
import { flagDraftInvoicesOfPlans } from '../flag-drafts.ts';
import { refreshShapes } from '../usage-shapes/commands.ts';
import type { FollowedCharge, FollowedFilter, PlanChange } from './cascade-changes.ts';
import { copyOfCharge } from './copy-plan.ts';
import { lockCustomersOnPlans } from './lock-overrides.ts';

/**
 * Step `cascade-plan-changes`: applies the changes of a plan to an override, one after the other. Safe to run twice:
 * applied changes are deleted.
 *
 *   amount          followed when the override still has the old one
 *   charge added    copied, unless the override is too large for it
 *   charge changed  ignored by another model; code and group keys always, prices where they equalled the old ones
 *   charge removed  removed while a subscription runs or waits on the override
 *
 * Rule: plans.md#overrides-and-cascade.
 */
export async function followPlanChanges(ctx: Context, { plan_id }: { plan_id: PlanId }): Promise<void> {
  await lockCustomersOnPlans(ctx, [plan_id]);
  const changes = await takeChanges(ctx, plan_id);
  const metricIds = new Set<string>();
  let hasNewAmount = false;
  for (const change of changes) {
    if (change.kind === 'amount') hasNewAmount = (await followAmount(ctx, plan_id, change)) || hasNewAmount;
    else for (const id of await followCharge(ctx, plan_id, change)) metricIds.add(id);
  }
  if (metricIds.size > 0) await refreshShapes(ctx, [...metricIds], 'charges');
  if (changes.length > 0) await flagDraftInvoicesOfPlans(ctx, [plan_id], ctx.now());
  if (hasNewAmount) await announce(ctx, planAmountChanged, { plan_id: plan_id });
}

/** The changes that an override has yet to follow, oldest first; the caller holds the override's row. */
async function takeChanges({ db, organizationId }: Scope, planId: PlanId): Promise<PlanChange[]> {
  const [copy] = await db`
    select id from plans where organization_id = ${organizationId} and id = ${planId} and deleted_at is null
    for update`;
  if (!copy) return [];
  const rows = await db<{ change: PlanChange }[]>`
    with taken as (
      delete from plan_cascades where organization_id = ${organizationId} and plan_id = ${planId}
      returning position, change
    )
    select change from taken order by position`;
  return rows.map(({ change }) => change);
}

async function followAmount(
  ctx: Context,
  planId: PlanId,
  { from, to }: Extract<PlanChange, { kind: 'amount' }>,
): Promise<boolean> {
  const { count } = await ctx.db`
    update plans set amount_cents = ${to}, updated_at = ${ctx.now()}
    where organization_id = ${ctx.organizationId} and id = ${planId} and amount_cents = ${from}`;
  return count > 0;
}

/** @returns the metrics whose charges changed */
async function followCharge(
  ctx: Context,
  planId: PlanId,
  change: Exclude<PlanChange, { kind: 'amount' }>,
): Promise<string[]> {
  const own = await listChargesOfPlans(ctx, [planId]);
  const copy = own.find((charge) => charge.parent_id === change.charge_id);
  if (change.kind === 'charge_added') {
    if (copy) return [];
    const [added] = await showLiveCharge(ctx, change.charge_id);
    if (!added || own.some(({ code }) => code === added.charge.code)) return [];
    if (!(await hasRoomFor(ctx, added, own))) return [];
    await saveCharges(ctx, [copyOfCharge(ctx, added, planId)], ctx.now());
    return [added.charge.billable_metric_id];
  }
  if (!copy) return [];
  if (change.kind === 'charge_removed') {
    if (!(await isInUse(ctx, planId))) return [];
    await deleteCharges(ctx, [copy.id], ctx.now());
    return [copy.billable_metric_id];
  }
  if (copy.charge_model !== change.to.charge_model) return [];
  const charges = await showCharges(ctx, own);
  const shown = charges.find(({ charge }) => charge.id === copy.id)!;
  await saveCharges(ctx, [followed(ctx, shown, change, charges)], ctx.now());
  return [copy.billable_metric_id];
}

/** Whether a copy of a plan, which has its `own` charges, can take one more without becoming too large. */
async function hasRoomFor(ctx: Context, added: ChargeShown, own: readonly ChargeRow[]): Promise<boolean> {
  const charges = await showCharges(ctx, own);
  return own.length < CHARGES_MAX && added.filters.length <= roomForFilters({ filters: [] }, charges);
}

/** A copy with the parts of a change that it takes over. */
function followed(
  ctx: Context,
  { charge, filters }: ChargeShown,
  { from, to }: { from: FollowedCharge; to: FollowedCharge },
  ofCopy: readonly ChargeShown[],
): PreparedCharge {
  const isSame = from.charge_model === charge.charge_model && isDeepStrictEqual(charge.properties, from.properties);
  const hasSameRate = (charge.conversion_rate?.toFixed() ?? null) === from.conversion_rate;
  return {
    charge: {
      ...charge,
      code: to.code,
      properties: isSame ? to.properties : withGroupKeys(charge.properties, to.properties),
      conversion_rate:
        hasSameRate && to.conversion_rate !== null ? decimal(to.conversion_rate) : charge.conversion_rate,
    },
    filters: followedFilters(ctx, { charge, filters, ofCopy }, from.filters, to.filters),
  };
}

/** The filters of a copy in the order of the plan's, its own ones last; new ones as far as the copy has room. */
function followedFilters(
  ctx: Context,
  { charge, filters, ofCopy }: Pick<ChargeShown, 'charge' | 'filters'> & { ofCopy: readonly ChargeShown[] },
  from: readonly FollowedFilter[],
  to: readonly FollowedFilter[],
): PreparedCharge['filters'] {
  const byValues = <Filter extends { values: FollowedFilter['values'] | ChargeShown['filters'][number]['values'] }>(
    list: readonly Filter[],
  ) => new Map(list.map((filter) => [identityOf(filter.values), filter]));
  const [own, former, current] = [byValues(filters), byValues(from), byValues(to)];
  const codes = new Set(filters.map(({ code }) => code));
  const isGone = ({ values }: ChargeFilterRow) => former.has(identityOf(values)) && !current.has(identityOf(values));
  let room = roomForFilters({ filters }, ofCopy) + filters.filter(isGone).length;
  const inOrder = to.flatMap((filter) => {
    const key = identityOf(filter.values);
    const [copy, old] = [own.get(key), former.get(key)];
    if (copy !== undefined) {
      const isSame = old !== undefined && isDeepStrictEqual(copy.properties, old.properties);
      const properties = isSame ? filter.properties : withGroupKeys(copy.properties, filter.properties);
      return [{ ...copy, properties }];
    }
    // A filter that the plan had before was removed from the copy on purpose.
    if (old !== undefined || room === 0) return [];
    room -= 1;
    const code = filterCode(filter.values, codes);
    codes.add(code);
    return [{ ...filter, id: newId(), charge_id: charge.id, code, position: 0, created_at: ctx.now() }];
  });
  const ownOnes = filters.filter(({ values }) => !current.has(identityOf(values)) && !former.has(identityOf(values)));
  return [...inOrder, ...ownOnes].map((filter, position) => ({ ...filter, position }));
}

const GROUP_KEYS = ['pricing_group_keys', 'presentation_group_keys'];

const withGroupKeys = (properties: Properties, source: Properties): Properties => {
  const pick = (from: Properties, isKey: boolean) =>
    Object.fromEntries(Object.entries(from).filter(([name]) => GROUP_KEYS.includes(name) === isKey));
  return { ...pick(properties, false), ...pick(source, true) };
};

async function showLiveCharge(ctx: Context, id: ChargeId): Promise<ChargeShown[]> {
  const [row] = await ctx.db<{ plan_id: PlanId }[]>`
    select plan_id from charges where organization_id = ${ctx.organizationId} and id = ${id} and deleted_at is null`;
  if (!row) return [];
  const charges = await listChargesOfPlans(ctx, [row.plan_id]);
  return showCharges(
    ctx,
    charges.filter((charge) => charge.id === id),
  );
}

async function isInUse({ db, organizationId }: Scope, planId: PlanId): Promise<boolean> {
  const [row] = await db<{ found: boolean }[]>`
    select exists (
      select from subscriptions
      where organization_id = ${organizationId} and plan_id = ${planId} and status in ('active', 'pending')
    ) as found`;
  return row!.found;
}
