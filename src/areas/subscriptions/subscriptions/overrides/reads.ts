import type { Context } from '../../../../platform/context.ts';
import type { ChargeFilterId } from '../../../../platform/ids.ts';
import { isUuid } from '../../../../platform/ids.ts';
import { pageMeta } from '../../../../platform/lists/pagination.ts';
import { refuse } from '../../../../platform/refusal.ts';
import { identityOf } from '../../../catalog/charges/filter-values.ts';
import {
  type ChargeFilterRow,
  type ChargeRow,
  countCharges,
  countFilters,
  findFilter,
  getChargeByCode,
  listCharges,
  listFilters,
  listFiltersOfCharges,
} from '../../../catalog/charges/queries.ts';
import { showCharges } from '../../../catalog/charges/show-charges.ts';
import { chargeFilterView, chargeView } from '../../../catalog/charges/view.ts';
import { findShownByExternalId } from '../queries.ts';
import type { OverrideListQuery, OverrideQuery } from './schema.ts';

interface Address<Query = OverrideQuery> {
  external_id: string;
  charge_code: string;
  query: Query;
}

/** Charges of a subscription: those of its copy of the plan once there is one. @throws Refusal 404 subscription */
export async function listOwnCharges(
  ctx: Context,
  { external_id, query }: Omit<Address<OverrideListQuery>, 'charge_code'>,
) {
  const planId = await planOf(ctx, external_id, query);
  const [charges, count] = await Promise.all([listCharges(ctx, planId, query), countCharges(ctx, planId)]);
  const shown = await showCharges(ctx, charges);
  return { charges: shown.map(chargeView), meta: pageMeta(query, count) };
}

/** @throws Refusal 404 subscription, charge */
export async function showOwnCharge(ctx: Context, address: Address) {
  const [shown] = await showCharges(ctx, [await chargeAt(ctx, address)]);
  return { charge: chargeView(shown!) };
}

/** @throws Refusal 404 subscription, charge */
export async function listOwnFilters(ctx: Context, address: Address<OverrideListQuery>) {
  const charge = await chargeAt(ctx, address);
  const [filters, count] = await Promise.all([
    listFilters(ctx, charge.id, address.query),
    countFilters(ctx, charge.id),
  ]);
  return { filters: filters.map((filter) => chargeFilterView(filter, charge)), meta: pageMeta(address.query, count) };
}

/** The filter by its id in the copy or in the plan. @throws Refusal 404 subscription, charge, charge_filter */
export async function showOwnFilter(ctx: Context, { filter_id, ...address }: Address & { filter_id: ChargeFilterId }) {
  const charge = await chargeAt(ctx, address);
  const named = await findFilterMeant(ctx, charge, filter_id);
  const filter =
    named?.charge_id === charge.id
      ? named
      : (await listFiltersOfCharges(ctx, [charge.id])).find(
          ({ values }) => named && identityOf(values) === identityOf(named.values),
        );
  if (!filter) throw refuse.notFound('charge_filter');
  return { filter: chargeFilterView(filter, charge) };
}

/** A filter by its id, of a charge or of the one that the charge was copied from. */
export async function findFilterMeant(
  ctx: Context,
  charge: Pick<ChargeRow, 'id' | 'parent_id'>,
  id: string,
): Promise<ChargeFilterRow | undefined> {
  if (!isUuid(id)) return undefined;
  const own = await findFilter(ctx, charge.id, id);
  if (own || charge.parent_id === null) return own;
  return findFilter(ctx, charge.parent_id, id);
}

async function chargeAt(ctx: Context, { external_id, charge_code, query }: Address): Promise<ChargeRow> {
  return getChargeByCode(ctx, await planOf(ctx, external_id, query), charge_code);
}

async function planOf(ctx: Context, externalId: string, { subscription_status }: OverrideQuery): Promise<string> {
  const subscription = await findShownByExternalId(ctx, externalId, subscription_status);
  if (!subscription) throw refuse.notFound('subscription');
  return subscription.plan_id;
}
