import type { Context } from '../../../platform/context.ts';
import { groupRows } from '../../../platform/lists/group-rows.ts';
import { type Page, pageMeta } from '../../../platform/lists/pagination.ts';
import { listTaxesOfAddOns } from '../taxes/queries.ts';
import { countAddOns, getAddOn, listAddOns } from './queries.ts';
import { addOnView } from './view.ts';

/** Three statements, whatever the number of add-ons. */
export async function listAddOnsPage(ctx: Context, { query }: { query: Page }) {
  const [rows, count] = await Promise.all([
    listAddOns(ctx.db, ctx.organizationId, query),
    countAddOns(ctx.db, ctx.organizationId),
  ]);
  const taxes = await listTaxesOfAddOns(
    ctx.db,
    ctx.organizationId,
    rows.map(({ id }) => id),
  );
  const taxesOf = groupRows(taxes, ({ add_on_id }) => add_on_id);
  return { add_ons: rows.map((row) => addOnView(row, taxesOf.get(row.id) ?? [])), meta: pageMeta(query, count) };
}

/** @throws Refusal 404 add_on */
export async function showAddOn(ctx: Context, { code }: { code: string }) {
  const addOn = await getAddOn(ctx.db, ctx.organizationId, code);
  return { add_on: addOnView(addOn, await listTaxesOfAddOns(ctx.db, ctx.organizationId, [addOn.id])) };
}
