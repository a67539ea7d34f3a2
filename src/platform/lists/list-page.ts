import type { z } from 'zod';
import type { Db, Fragment } from '../db/connect.ts';
import { columnsOf } from '../db/rows.ts';
import type { Scope } from '../db/scope.ts';
import type { Noun, RowOf } from '../schema/columns.ts';
import { containsPattern } from './filters.ts';
import { limitOf, type Page, type PageMeta, pageMeta, pageOf } from './pagination.ts';

interface Listing {
  order: (db: Db) => Fragment;
  /** Columns that `search_term` searches. */
  searched?: readonly string[];
}

/** By name, newest first among equal names. Rule: lists.md#filters-and-order. */
export const byName = (db: Db): Fragment => db`name, created_at desc, id desc`;
export const newestFirst = (db: Db): Fragment => db`created_at desc, id desc`;

/** A page of live rows with the `meta` of its list: two statements at the same time, or one uncounted. */
export async function listPage<Given extends Noun>(
  { db, organizationId }: Scope,
  noun: Given,
  query: Page & { search_term?: string | undefined },
  { order, searched = [] }: Listing,
): Promise<{ rows: RowOf<Given>[]; meta: z.output<typeof PageMeta> }> {
  const { limit, offset } = limitOf(query);
  const live = db`
    from ${db(noun.table)} ${db(noun.name)}
    where organization_id = ${organizationId} and deleted_at is null ${searchedBy(db, searched, query.search_term)}`;
  const { rows, total } = await pageOf(query, {
    rows: () => db`select ${columnsOf(db, noun)} ${live} order by ${order(db)} limit ${limit} offset ${offset}`,
    count: async () => (await db<{ total: number }[]>`select count(*) as total ${live}`)[0]!.total,
  });
  return { rows: rows as unknown as RowOf<Given>[], meta: pageMeta(query, total) };
}

function searchedBy(db: Db, columns: readonly string[], term: string | undefined): Fragment {
  if (term === undefined || columns.length === 0) return db``;
  const matches = columns.map((column) => db`${db(column)} ilike ${containsPattern(term)}`);
  return db`and (${matches.reduce((some, each) => db`${some} or ${each}`)})`;
}
