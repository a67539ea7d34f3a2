import type { Context } from '../../../platform/context.ts';
import type { ChargeFilterId } from '../../../platform/ids.ts';
import { isUuid } from '../../../platform/ids.ts';
import { type Page, pageMeta } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';
import {
  type ChargeRow,
  countCharges,
  countFilters,
  findFilter,
  getChargeByCode,
  listCharges,
  listFilters,
} from '../charges/queries.ts';
import { showCharges } from '../charges/show-charges.ts';
import { chargeFilterView, chargeView } from '../charges/view.ts';
import { getPlanByCode } from '../plans/queries.ts';

/** @throws Refusal 404 plan */
export async function listPlanCharges(ctx: Context, { code, query }: { code: string; query: Page }) {
  const plan = await getPlanByCode(ctx, code);
  const [charges, count] = await Promise.all([listCharges(ctx, plan.id, query), countCharges(ctx, plan.id)]);
  const shown = await showCharges(ctx, charges);
  return { charges: shown.map(chargeView), meta: pageMeta(query, count) };
}

interface Address {
  code: string;
  charge_code: string;
}

/** @throws Refusal 404 plan, charge */
export async function showPlanCharge(ctx: Context, address: Address) {
  const [shown] = await showCharges(ctx, [await chargeAt(ctx, address)]);
  return { charge: chargeView(shown!) };
}

/** @throws Refusal 404 plan, charge */
export async function listPlanChargeFilters(ctx: Context, { query, ...address }: Address & { query: Page }) {
  const charge = await chargeAt(ctx, address);
  const [filters, count] = await Promise.all([listFilters(ctx, charge.id, query), countFilters(ctx, charge.id)]);
  return { filters: filters.map((filter) => chargeFilterView(filter, charge)), meta: pageMeta(query, count) };
}

/** @throws Refusal 404 plan, charge, charge_filter */
export async function showPlanChargeFilter(
  ctx: Context,
  { filter_id, ...address }: Address & { filter_id: ChargeFilterId },
) {
  const charge = await chargeAt(ctx, address);
  const filter = isUuid(filter_id) ? await findFilter(ctx, charge.id, filter_id) : undefined;
  if (!filter) throw refuse.notFound('charge_filter');
  return { filter: chargeFilterView(filter, charge) };
}

async function chargeAt(ctx: Context, { code, charge_code }: Address): Promise<ChargeRow> {
  const plan = await getPlanByCode(ctx, code);
  return getChargeByCode(ctx, plan.id, charge_code);
}
