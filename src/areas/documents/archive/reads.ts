import type { Context } from '../../../platform/context.ts';
import { pageMeta } from '../../../platform/lists/pagination.ts';
import { listArchiveRoots } from './queries.ts';
import type { ArchiveRootsQuery } from './schema.ts';

/** One line for each billing entity and day, which an auditor may have notarized. Rule: e-documents.md#archive. */
export async function showArchiveRoots(ctx: Context, { query }: { query: ArchiveRootsQuery }) {
  const { rows, totalCount } = await listArchiveRoots(ctx, query);
  return {
    archive_roots: rows.map(({ billing_entity_code, day, count, root }) => ({
      billing_entity_code,
      day: day.toString(),
      count,
      root,
    })),
    meta: pageMeta(query, totalCount),
  };
}
