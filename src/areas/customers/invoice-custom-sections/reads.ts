import type { Context } from '../../../platform/context.ts';
import { getRow } from '../../../platform/db/rows.ts';
import { byName, listPage } from '../../../platform/lists/list-page.ts';
import { sections } from './queries.ts';
import type { SectionsQuery } from './schema.ts';
import { sectionView } from './view.ts';

export async function listSections(ctx: Context, { query }: { query: SectionsQuery }) {
  const { rows, meta } = await listPage(ctx, sections, query, { order: byName, searched: ['name', 'code'] });
  return { invoice_custom_sections: rows.map(sectionView), meta };
}

/** @throws Refusal 404 invoice_custom_section */
export async function showSection(ctx: Context, { code }: { code: string }) {
  return { invoice_custom_section: sectionView(await getRow(ctx, sections, code)) };
}
