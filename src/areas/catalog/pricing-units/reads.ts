import type { Context } from '../../../platform/context.ts';
import { getRow } from '../../../platform/db/rows.ts';
import { byName, listPage } from '../../../platform/lists/list-page.ts';
import { viewOf } from '../../../platform/schema/columns.ts';
import { pricingUnits } from './queries.ts';
import type { PricingUnitsQuery } from './schema.ts';

export async function listPricingUnits(ctx: Context, { query }: { query: PricingUnitsQuery }) {
  const { rows, meta } = await listPage(ctx, pricingUnits, query, { order: byName, searched: ['name', 'code'] });
  return { pricing_units: rows.map((unit) => viewOf(pricingUnits, unit)), meta };
}

/** @throws Refusal 404 pricing_unit */
export async function showPricingUnit(ctx: Context, { code }: { code: string }) {
  return { pricing_unit: viewOf(pricingUnits, await getRow(ctx, pricingUnits, code)) };
}
