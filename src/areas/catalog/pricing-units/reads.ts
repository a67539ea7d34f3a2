import type { Context } from '../../../platform/context.ts';
import { pageMeta } from '../../../platform/lists/pagination.ts';
import { getPricingUnit, listPricingUnits } from './queries.ts';
import type { PricingUnitsQuery } from './schema.ts';
import { pricingUnitView } from './view.ts';

export async function listPricingUnitsPage(ctx: Context, { query }: { query: PricingUnitsQuery }) {
  const { rows, totalCount } = await listPricingUnits(ctx.db, ctx.organizationId, query.search_term, query);
  return { pricing_units: rows.map(pricingUnitView), meta: pageMeta(query, totalCount) };
}

/** @throws Refusal 404 pricing_unit */
export async function showPricingUnit(ctx: Context, { code }: { code: string }) {
  return { pricing_unit: pricingUnitView(await getPricingUnit(ctx.db, ctx.organizationId, code)) };
}
