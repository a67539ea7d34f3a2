import type { Context } from '../../../platform/context.ts';
import { pageMeta } from '../../../platform/lists/pagination.ts';
import { getSection, listSections } from './queries.ts';
import type { SectionsQuery } from './schema.ts';
import { sectionView } from './view.ts';

export async function listSectionsPage(ctx: Context, { query }: { query: SectionsQuery }) {
  const { rows, totalCount } = await listSections(ctx.db, ctx.organizationId, query.search_term, query);
  return { invoice_custom_sections: rows.map(sectionView), meta: pageMeta(query, totalCount) };
}

/** @throws Refusal 404 invoice_custom_section */
export async function showSection(ctx: Context, { code }: { code: string }) {
  return { invoice_custom_section: sectionView(await getSection(ctx.db, ctx.organizationId, code)) };
}
