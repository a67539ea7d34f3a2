import type { Context } from '../../../platform/context.ts';
import { getRow } from '../../../platform/db/rows.ts';
import { byName, listPage } from '../../../platform/lists/list-page.ts';
import type { Page } from '../../../platform/lists/pagination.ts';
import { taxes } from './queries.ts';
import { taxView } from './view.ts';

export async function listTaxes(ctx: Context, { query }: { query: Page }) {
  const { rows, meta } = await listPage(ctx, taxes, query, { order: byName });
  return { taxes: rows.map(taxView), meta };
}

/** @throws Refusal 404 tax */
export async function showTax(ctx: Context, { code }: { code: string }) {
  return { tax: taxView(await getRow(ctx, taxes, code)) };
}
