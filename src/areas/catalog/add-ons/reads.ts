import type { Context } from '../../../platform/context.ts';
import { getRow } from '../../../platform/db/rows.ts';
import { groupRows } from '../../../platform/lists/group-rows.ts';
import { listPage, newestFirst } from '../../../platform/lists/list-page.ts';
import type { Page } from '../../../platform/lists/pagination.ts';
import { listTaxesOfAddOns } from '../taxes/queries.ts';
import { addOns } from './queries.ts';
import { addOnView } from './view.ts';

/** Three statements, whatever the number of add-ons. */
export async function listAddOns(ctx: Context, { query }: { query: Page }) {
  const { rows, meta } = await listPage(ctx, addOns, query, { order: newestFirst });
  const ids = rows.map(({ id }) => id);
  const taxes = await listTaxesOfAddOns(ctx, ids);
  const taxesOf = groupRows(taxes, ({ add_on_id }) => add_on_id);
  return { add_ons: rows.map((row) => addOnView(row, taxesOf.get(row.id) ?? [])), meta };
}

/** @throws Refusal 404 add_on */
export async function showAddOn(ctx: Context, { code }: { code: string }) {
  const addOn = await getRow(ctx, addOns, code);
  return { add_on: addOnView(addOn, await listTaxesOfAddOns(ctx, [addOn.id])) };
}
