import type { Context } from '../../../platform/context.ts';
import { type Page, pageMeta } from '../../../platform/lists/pagination.ts';
import { getTax, listTaxes } from './queries.ts';
import { taxView } from './view.ts';

export async function listTaxesPage(ctx: Context, { query }: { query: Page }) {
  const { rows, totalCount } = await listTaxes(ctx.db, ctx.organizationId, query);
  return { taxes: rows.map(taxView), meta: pageMeta(query, totalCount) };
}

/** @throws Refusal 404 tax */
export async function showTax(ctx: Context, { code }: { code: string }) {
  return { tax: taxView(await getTax(ctx.db, ctx.organizationId, code)) };
}
