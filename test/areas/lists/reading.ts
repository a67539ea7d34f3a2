import { expect } from 'vitest';
import type { Client } from '../../support/client.ts';

export const ALL = 'all';
/** What a query finds, as labels in the order of the list; or the refusal by field. */
export type Found = readonly (string | number)[] | typeof ALL | { readonly [field: string]: string };

/** How a sandbox refuses filters that the list does not know. */
export const unknown = (...filters: string[]): Found =>
  Object.fromEntries(filters.map((filter) => [filter, 'value_must_be_blank']));

/** Compares what a list shows for each query; all wrong ones are told together. */
export async function expectLists(
  client: Client,
  path: string,
  // biome-ignore lint/suspicious/noExplicitAny: rows of every shape
  labelOf: (row: any) => string | number,
  all: readonly (string | number)[],
  table: readonly (readonly [query: string, found: Found])[],
): Promise<void> {
  const rows = [['', ALL] as const, ...table];
  const wanted = rows.map(([query, found]) => [query, found === ALL ? all : found]);
  const shown: unknown[] = [];
  for (const [query] of rows) {
    const { status, body } = await client.get(`${path}?${query}`);
    const list = Object.values(body).find(Array.isArray);
    if (status === 200) shown.push([query, list?.map(labelOf)]);
    else if (status === 422) shown.push([query, faultsOf(body)]);
    else shown.push([query, { [status]: body.resource ?? body.code }]);
  }
  expect(shown).toEqual(wanted);
}

const faultsOf = ({ error_details: details }: { error_details: Record<string, string[]> }) =>
  Object.fromEntries(Object.entries(details).map(([field, codes]) => [field, codes.join()]));
