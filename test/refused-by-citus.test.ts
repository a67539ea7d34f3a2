import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectRoot } from '../src/platform/project-root.ts';

const root = projectRoot();

/**
 * Forms that Citus refuses in a schema that it has distributed, with the files that had them when that was seen. A new
 * statement is written otherwise; a file that no longer has the form loses its row.
 *
 * Rule: cells.md#statements-that-citus-refuses.
 */
const FORMS: Record<string, { form: RegExp; known: readonly string[] }> = {
  'a row lock within a materialized CTE': {
    form: /as materialized \((?:(?!\bas (?:materialized )?\()[\s\S])*?\bfor (?:no key )?(?:update|share)/,
    known: [
      'src/areas/billing/bill-in-advance/paid-fees.ts',
      'src/areas/messaging/deliver-webhooks/stored-deliveries.ts',
      'src/areas/usage/ingest-events/open-batches.ts',
    ],
  },
  'a volatile function within case': {
    form: /\bcase\b(?:(?!\bend\b)[\s\S])*?\b(?:now|random|clock_timestamp|gen_random_uuid|nextval)\(/,
    known: [
      'src/areas/billing/build-invoice/coupons.ts',
      'src/areas/payments/payments/give-up-payments.ts',
      'src/areas/reporting/overview/queries.ts',
      'src/areas/subscriptions/subscriptions/activation-rules.ts',
      'src/areas/usage/ingest-events/open-batches.ts',
      'src/areas/usage/ingestion/queries.ts',
    ],
  },
  'tablesample with a parameter': {
    form: /\btablesample\b[^\n]*\$\{/,
    known: ['src/areas/reporting/audit-books/usage-checks.ts', 'src/areas/usage/build-shapes/rollup-rows.ts'],
  },
  'several commands in one statement': {
    form: /;\s*(?:select|insert|update|delete|set|with)\b/,
    known: [],
  },
};

const statementsOf = (text: string): string[] => [...text.matchAll(/`([^`]*)`/g)].map(([, statement]) => statement!);

const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => `src/${name}`);

test.each(Object.entries(FORMS))('no statement beyond the known ones has %s', (_name, { form, known }) => {
  const found = sources.filter((path) =>
    statementsOf(readFileSync(join(root, path), 'utf8')).some((statement) => form.test(statement)),
  );
  expect(found.sort()).toEqual([...known].sort());
});

/** Migrations from this one on are written for schemas that may be distributed. */
const FIRST_NEW = '0200';
const withoutComments = (text: string): string => text.replace(/--[^\n]*/g, '');
const hasSeveralParts = (statement: string): boolean => /,\s*(?:add|drop|alter|rename|validate)\b/.test(statement);

/** What of a migration Citus refuses. */
const refusedIn = (text: string): string[] => [
  ...(/\breferencing\s+(?:new|old)\s+table\b/.test(text) ? ['a trigger with a transition table'] : []),
  ...(withoutComments(text).match(/\balter table\b[^;]*;/g) ?? []).filter(hasSeveralParts),
];

test('the forms that are looked for in migrations are found where they stand', () => {
  const read = (name: string) => readFileSync(join(root, 'migrations', name), 'utf8');
  expect(refusedIn(read('0016_follow_changes.sql'))).toEqual(['a trigger with a transition table']);
  expect(refusedIn(read('0060_write_mails_in_html.sql'))).toHaveLength(1);
  expect(refusedIn(read('0088_find_starts_and_ends_in_turn.sql'))).toEqual([]);
});

test('no new migration has several parts in one alter table, or a trigger with a transition table', () => {
  const refused = readdirSync(join(root, 'migrations'))
    .filter((name) => name.endsWith('.sql') && name >= FIRST_NEW)
    .flatMap((name) =>
      refusedIn(readFileSync(join(root, 'migrations', name), 'utf8')).map((form) => `${name}: ${form}`),
    );
  expect(refused).toEqual([]);
});
