import { Temporal } from 'temporal-polyfill';
import type { Context } from '../../../platform/context.ts';
import { seconds } from '../../../platform/schema/view.ts';
import { shownSince } from '../../tenancy/retention/queries.ts';
import { type FoundRow, findKnown } from './queries.ts';
import { MATCHES, SEARCH_TYPES, type SearchEnvelope, type SearchQuery, type SearchType } from './schema.ts';
import { SEARCHED } from './searched.ts';
import { findSubstrings, type Substrings } from './substrings.ts';

/** Shorter texts are in too many names to be of use, and no index finds them. */
const SUBSTRING_MIN = 3;

const PERMISSIONS = new Map<SearchType, string>([
  ...SEARCHED.map(({ type, permission }) => [type, permission] as const),
  ['event', 'event'],
  ['api_log', 'api_log'],
]);

/**
 * Records that a text names: exactly, by its beginning, or within the names of customers; only of types that the key
 * may read. Four statements at most, each arm of which reads at most twenty rows, and one at most 200.
 *
 * Rule: console-reads.md#search.
 */
export async function showSearch(ctx: Context, { query }: { query: SearchQuery }): Promise<SearchEnvelope> {
  const { q: term, limit } = query;
  const types = new Set(
    (query.types ?? SEARCH_TYPES).filter(
      (type): type is SearchType => ctx.holds?.(PERMISSIONS.get(type as SearchType)!, 'read') === true,
    ),
  );
  const wanted = { term, types, logsSince: await shownSince(ctx, 'api_logs') };
  const isLong = [...term].length >= SUBSTRING_MIN && types.has('customer');
  const none: Substrings = { rows: [], truncated: false };
  const [known, substrings] = await Promise.all([findKnown(ctx, wanted), isLong ? findSubstrings(ctx, term) : none]);
  const within = substrings.rows.map((row) => (startsWord(row.text, term) ? { ...row, match: 'word' as const } : row));
  const results = best([...known, ...within]);
  return {
    search: {
      query: term,
      truncated: substrings.truncated,
      results: ofEachType(results, limit).map((row) => ({
        type: row.type,
        svc_id: row.id,
        title: row.title,
        subtitle: row.subtitle,
        match: row.match,
        path: row.path + encodeURIComponent(row.path_key),
        created_at: seconds(row.created_at),
      })),
    },
  };
}

/** Each record once, by its best match: best first, the newest among equals. */
function best(rows: readonly FoundRow[]): FoundRow[] {
  const sorted = [...rows].sort(
    (a, b) =>
      MATCHES.indexOf(a.match) - MATCHES.indexOf(b.match) ||
      Temporal.Instant.compare(b.created_at, a.created_at) ||
      (a.id < b.id ? 1 : -1),
  );
  const seen = new Set<string>();
  return sorted.filter(({ type, id }) => {
    const key = `${type} ${id}`;
    return !seen.has(key) && seen.add(key);
  });
}

function ofEachType(rows: readonly FoundRow[], limit: number): FoundRow[] {
  const counts = new Map<SearchType, number>();
  return rows.filter(({ type }) => {
    const count = (counts.get(type) ?? 0) + 1;
    counts.set(type, count);
    return count <= limit;
  });
}

/** Whether a word of the text begins with the term; letters and digits make words. */
function startsWord(text: string, term: string): boolean {
  const wanted = term.toLowerCase();
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1))
    if (at === 0 || !/[\p{L}\p{N}]$/u.test(text.slice(0, at))) return true;
  return false;
}
