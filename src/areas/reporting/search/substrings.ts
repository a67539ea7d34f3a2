import type { Context } from '../../../platform/context.ts';
import type { Db, Fragment, Sql } from '../../../platform/db/connect.ts';
import { containsPattern } from '../../../platform/lists/filters.ts';
import { type FoundRow, shown } from './queries.ts';
import { RESULTS_MAX } from './schema.ts';
import { SEARCHED } from './searched.ts';

/** How many matches are looked at; more are not ranked: a word in half of all names needs no ranking. */
const MOST_MATCHES = 200;
/**
 * So many of the newest customers are looked through first. A text that 20 of them contain is in one name of a hundred:
 * its index would list ten thousand of a million customers before the first was read. Measured: 2 ms of processor time
 * for these, 60 to 85 ms for the index with "gmail" in 400 000 of 1 000 000 addresses.
 */
const LOOKED_THROUGH = 2000;
/** With so many matches among the newest the index is not asked: no answer shows more. */
const ENOUGH = RESULTS_MAX;
/** Words in a greater share of the newest only make the index slower. */
const COMMON_SHARE = 0.2;
/** Words of a text that are counted; the others are as good as common. */
const MOST_WORDS = 6;
/** Shorter words have no trigram of their own. */
const WORD_MIN = 3;
const INDEX_TIMEOUT_MS = 250;
const CANCELLED = '57014';

/** The texts of a customer in which a substring is looked for, as the index `customers_search` has them. */
const searchText = (db: Db): Fragment => db`
  lower(coalesce(r.name, '') || chr(10) || coalesce(r.firstname, '') || chr(10) || coalesce(r.lastname, '') || chr(10)
    || coalesce(r.legal_name, '') || chr(10) || r.external_id || chr(10) || coalesce(r.email, ''))`;

type Match = FoundRow & { text: string };

export interface Substrings {
  rows: readonly Match[];
  /** Whether there may be others. */
  truncated: boolean;
}

const CUSTOMER = SEARCHED.find(({ type }) => type === 'customer')!;

/**
 * Matches of a text within names, external ids and addresses of customers, not sorted: those among the newest
 * customers, and by the index where these are few. Two statements; what takes the second one longer than a quarter of a
 * second is given up. How much either reads depends on the text alone where it is rare, and on nothing where it is
 * common.
 */
export async function findSubstrings(ctx: Context, typed: string): Promise<Substrings> {
  const term = typed.toLowerCase();
  let newest: Newest | undefined;
  try {
    return await (ctx.db as Sql).begin(async (tx) => {
      newest = await lookThroughNewest({ ...ctx, db: tx }, term);
      const { rows, looked } = newest;
      if (looked < LOOKED_THROUGH) return { rows, truncated: rows.length === MOST_MATCHES };
      if (rows.length >= ENOUGH) return { rows, truncated: true };
      const others = await askIndex({ ...ctx, db: tx }, term, telling(term, newest));
      return { rows: [...rows, ...others], truncated: others.length === MOST_MATCHES };
    });
  } catch (error) {
    const { code, message } = error as { code?: string; message?: string };
    if (newest && code === CANCELLED && message?.includes('statement timeout'))
      return { rows: newest.rows, truncated: true };
    throw error;
  }
}

interface Newest {
  rows: readonly Match[];
  looked: number;
  /** In how many of them each word of the text is. */
  words: ReadonlyMap<string, number>;
}

/**
 * The newest customers, whatever the text. Settles that the statement after it uses an index of its condition: an index
 * in the order of customers would be read to its end for a text that nobody has.
 */
async function lookThroughNewest({ db, organizationId }: Pick<Context, 'db' | 'organizationId'>, term: string) {
  const words = [...new Set(term.split(/\s+/))].filter((word) => [...word].length >= WORD_MIN).slice(0, MOST_WORDS);
  const rows = (await db`
    with newest as materialized (
      select r.id, r.external_id, r.name, r.firstname, r.lastname, r.legal_name, r.email, r.created_at,
        ${searchText(db)} as text
      from customers r
      where r.organization_id = ${organizationId} and r.deleted_at is null
      order by r.created_at desc, r.id desc
      limit ${LOOKED_THROUGH}
    ), counted as (
      select count(*)::int as looked, set_config('enable_seqscan', 'off', true) as s1,
        set_config('enable_indexscan', 'off', true) as s2,
        set_config('statement_timeout', ${String(INDEX_TIMEOUT_MS)}, true) as s3,
        array[${words.reduce(
          (all, word) => db`${all}, count(*) filter (where text like ${containsPattern(word)})`,
          db`count(*)`,
        )}]::int[] as words
      from newest
    )
    select counted.looked, counted.words, found.*
    from counted left join lateral (
      select ${shown(db, CUSTOMER, 'substring')}, r.text
      from newest r where r.text like ${containsPattern(term)}
      limit ${MOST_MATCHES}) found on true`) as unknown as (Match & { looked: number; words: number[] })[];
  const [first] = rows;
  return {
    rows: rows.filter(({ id }) => id !== null),
    looked: first!.looked,
    words: new Map(words.map((word, at) => [word, first!.words[at + 1]!])),
  };
}

/** By what the index finds a text soonest: the whole of it, but for words that are common where others are not. */
function telling(term: string, { looked, words }: Newest): string[] {
  const rare = [...words].filter(([, count]) => count <= looked * COMMON_SHARE).map(([word]) => word);
  return rare.length > 0 && rare.length < words.size ? rare : [term];
}

const askIndex = (
  { db, organizationId }: Pick<Context, 'db' | 'organizationId'>,
  term: string,
  words: readonly string[],
) => db<Match[]>`
  select ${shown(db, CUSTOMER, 'substring')}, ${searchText(db)} as text from customers r
  where r.organization_id = ${organizationId} and r.deleted_at is null
    ${words.reduce((all, word) => db`${all} and ${searchText(db)} like ${containsPattern(word)}`, db``)}
    and ${searchText(db)} || '' like ${containsPattern(term)}
  limit ${MOST_MATCHES}`;
