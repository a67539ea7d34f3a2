import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectRoot } from '../src/platform/project-root.ts';
import { bare, REFUSED_FORMS } from './support/refused-forms.ts';
import { templateTexts } from './support/template-texts.ts';

const root = projectRoot();

const sources = ['src', 'workers'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name}`),
);
const statements = sources.map((path) => ({
  path,
  texts: templateTexts(readFileSync(join(root, path), 'utf8')).map(bare),
}));

// Rule: cells.md#statements-that-citus-refuses.
test.each(Object.entries(REFUSED_FORMS))('no statement has %s', (_name, hasForm) => {
  expect(statements.filter(({ texts }) => texts.some(hasForm)).map(({ path }) => path)).toEqual([]);
});

/** The forms that the only statement of a source has; `#{` begins an interpolation. */
const formsOf = (source: string): string[] =>
  Object.entries(REFUSED_FORMS)
    .filter(([, hasForm]) => templateTexts(source.replaceAll('#{', '${')).map(bare).some(hasForm))
    .map(([name]) => name);

const [LOCK, CHANGE, SAMPLE, BEHIND, SEVERAL] = Object.keys(REFUSED_FORMS);

test.each([
  ['db`with a as (select id from b for no key update) delete from b`', LOCK],
  ['db`with a as materialized (select (select 1) from b for update of b) select from a`', LOCK],
  ['db`with a as not materialized (select id from b for share) select from a`', LOCK],
  ['db`update a set b = case when c then case when d then 1 end else now() end`', CHANGE],
  ['db`update a set b = coalesce(b, greatest(c, clock_timestamp()))`', CHANGE],
  ["db`update a set b = case when c then #{ctx.now()}::timestamptz + hours * interval '1 hour' end`", CHANGE],
  ['db`case when a then current_timestamp end`', CHANGE],
  ['db`select 1 from a tablesample system (#{percent})`', SAMPLE],
  ['db`with a as (update b set c = 1 returning d) insert into e (f) select d from a`', BEHIND],
  ['db`with a as (#{rows}), g as (delete from h) insert into #{e} (f) select d from a on conflict do nothing`', BEHIND],
  ['db`select 1; delete from a`', SEVERAL],
])('%s has the form that Citus refuses', (source, form) => {
  expect(formsOf(source)).toEqual([form]);
});

test.each([
  ['a lock of the outer statement', 'db`with a as materialized (select 1) select from b, a for update of b`'],
  ['a lock of a subquery', 'db`update a set b = 1 where id in (select id from a for update skip locked)`'],
  ['a function of the program', 'db`update a set b = case when c then #{ctx.now()} else coalesce(b, #{now()}) end`'],
  ['a function beside case', 'db`update a set b = case when c then 1 end, d = #{e}, f = clock_timestamp()`'],
  ['a function in a comment or text', "db`update a set b = case when c then 'now()' end -- case now() end\n`"],
  ['an insert in an expression of its own', 'db`with a as (delete from b), c as (insert into d select 1) select 1`'],
  ['an insert of values', 'db`with a as (delete from b returning c) insert into d values ((select c from a))`'],
  ['an insert of what it reads itself', 'db`insert into a select b from (with c as (select 1) select 1) d`'],
  ['a read', 'db`select case when a then now() end from b for update`'],
  ['a fixed sample', 'db`select 1 from a tablesample system (1)`'],
  ['a pattern and texts with backticks', "const a = /[`'/]/; const b = '`;'; // `; select`\nconst c = 1 / 2;"],
])('%s is not taken for a form that Citus refuses', (_what, source) => {
  expect(formsOf(source)).toEqual([]);
});

const schema = readFileSync(join(root, 'docs/schema.sql'), 'utf8');
const functions = [...schema.matchAll(/FUNCTION public\.(\w+)\(([\s\S]*?)AS \$function\$([\s\S]*?)\$function\$/g)].map(
  ([, name, head, body]) => ({ name: name!, head: head!, body: bare(body!) }),
);
const names = new Set([
  ...functions.map(({ name }) => name),
  ...[...schema.matchAll(/^create table (\w+) \(/gm)].map(([, name]) => name!),
]);

test('no trigger of the schema has a transition table', () => {
  expect(schema.match(/^CREATE TRIGGER .*/gm)!.length).toBeGreaterThan(20);
  expect(schema.match(/^CREATE TRIGGER .* REFERENCING .*/gm) ?? []).toEqual([]);
});

test('each function that names a table or a function of the schema brings its own search path', () => {
  const named = functions.filter(({ body }) => body.match(/\w+/g)!.some((word) => names.has(word)));
  expect(named.length).toBeGreaterThan(15);
  expect(named.filter(({ head }) => !/\bSET search_path TO\b/.test(head)).map(({ name }) => name)).toEqual([]);
});

test('no command within a function has a form that Citus refuses', () => {
  const commands = functions.flatMap(({ name, body }) =>
    body.split(/;|\b(?:begin|loop|then|else|query)\b/).map((text) => ({ name, text: text.trim() })),
  );
  const refused = commands.filter(
    ({ text }) =>
      /^(?:with|select|insert|update|delete)\b/.test(text) &&
      Object.values(REFUSED_FORMS).some((hasForm) => hasForm(text)),
  );
  expect(commands.length).toBeGreaterThan(100);
  expect(refused).toEqual([]);
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
