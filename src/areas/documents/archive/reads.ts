import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import { zipped } from '../../../platform/documents/zip.ts';
import { pageMeta } from '../../../platform/lists/pagination.ts';
import { Answer } from '../../../platform/operation.ts';
import { refuse } from '../../../platform/refusal.ts';
import { filesOfArchive } from './export-archive.ts';
import { countHandedOut, listArchiveRoots } from './queries.ts';
import type { ArchiveRootsQuery, ExportQuery } from './schema.ts';

/**
 * How many documents one export may hold. The list at its end is written at once: 17 µs a document in which nobody else
 * is served, and some 5 KB of memory until it is read. The command of the operator has no limit.
 */
const MOST_EXPORTED = 10_000;

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

/**
 * Every document that was issued in a period, as one ZIP file that is made while it is sent: no connection is held, and
 * no more than a few contents are in memory, however slowly it is taken.
 *
 * @throws Refusal 422 base value_is_out_of_range, of more documents than one file takes
 * Rule: e-documents.md#archive.
 */
export async function exportEDocuments(ctx: Context, { query }: { query: ExportQuery }) {
  const { from, to } = query;
  if ((await countHandedOut(ctx, query, MOST_EXPORTED + 1)) > MOST_EXPORTED)
    throw refuse.invalid({ base: ['value_is_out_of_range'] });
  return new Answer(null, {
    bytes: zipped(filesOfArchive(ctx, query), new Date(realNow().epochMilliseconds)),
    contentType: 'application/zip',
    headers: { 'Content-Disposition': `attachment; filename="e-documents-${from}-${to}.zip"` },
  });
}
