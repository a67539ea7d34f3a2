import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Db } from '../../../src/platform/db/connect.ts';
import { deleteRow, findRow, getRow, insertRow, refuseTakenCode, updateRow } from '../../../src/platform/db/rows.ts';
import type { WriteScope } from '../../../src/platform/db/scope.ts';
import { newId } from '../../../src/platform/ids.ts';
import { byName, listPage } from '../../../src/platform/lists/list-page.ts';
import {
  column,
  computed,
  hidden,
  orAbsent,
  orNull,
  viewOf,
  viewSchema,
} from '../../../src/platform/schema/columns.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

const shelves = {
  name: 'shelf',
  table: 'shelves',
  columns: {
    id: column.uuid,
    code: column.text,
    name: column.text,
    note: orNull(column.text),
    label: orAbsent(column.text),
    weight: hidden(orNull(column.decimal)),
    is_named: computed(column.boolean, (db: Db) => db`(shelf.name <> '')`),
    created_at: column.instant,
  },
};

const MADE = Temporal.Instant.from('2026-01-01T00:00:00Z');
const LATER = Temporal.Instant.from('2026-01-02T00:00:00Z');

let database: TestDatabase;
let at = MADE;
const scope = (organizationId: string): WriteScope => ({ db: database.sql, organizationId, now: () => at });
const mine = newId();
const others = newId();

beforeAll(async () => {
  database = await createTestDatabase();
  await database.sql`
    create table shelves (id uuid primary key, organization_id uuid not null, code text not null, name text not null,
      note text, label text, weight numeric, secret text, created_at timestamptz not null,
      updated_at timestamptz not null, deleted_at timestamptz)`;
});
afterAll(() => database.drop());

test('a row is inserted, found by its code, changed in part and deleted within its organization', async () => {
  const given = { code: 'a', name: 'Top', note: 'dusty', secret: 'ignored' };
  const made = await insertRow(scope(mine), shelves, given);
  expect(made).toEqual({
    id: made.id,
    code: 'a',
    name: 'Top',
    note: 'dusty',
    label: null,
    weight: null,
    created_at: MADE,
  });
  expect(await findRow(scope(mine), shelves, 'a')).toEqual({ ...made, is_named: true });
  expect(await findRow(scope(others), shelves, 'a')).toBeUndefined();

  at = LATER;
  await updateRow(scope(mine), shelves, { ...made, is_named: true }, { name: undefined, note: null, label: 'L' });
  expect(await getRow(scope(mine), shelves, 'a')).toEqual({ ...made, note: null, label: 'L', is_named: true });
  const [stored] = await database.sql`select secret, created_at, updated_at from shelves`;
  expect(stored).toEqual({ secret: null, created_at: MADE, updated_at: LATER });

  await deleteRow(scope(mine), shelves, made.id);
  await expect(getRow(scope(mine), shelves, 'a')).rejects.toMatchObject({ status: 404, body: { resource: 'shelf' } });
});

test('a code is refused while another live row of the organization has it', async () => {
  const { id } = await insertRow(scope(mine), shelves, { code: 'b', name: 'Bottom' });
  await expect(refuseTakenCode(scope(mine), shelves, 'b')).rejects.toMatchObject({
    body: { error_details: { code: ['value_already_exist'] } },
  });
  await refuseTakenCode(scope(mine), shelves, 'b', id);
  await refuseTakenCode(scope(others), shelves, 'b');
});

test('a list is searched by the named columns, counted and cut into pages', async () => {
  for (const name of ['C%1', 'c%2', 'C3']) await insertRow(scope(others), shelves, { code: name, name });
  const query = { page: 1, per_page: 1, search_term: 'c%' };
  const { rows, meta } = await listPage(scope(others), shelves, query, { order: byName, searched: ['name', 'code'] });
  expect(rows).toHaveLength(1);
  expect(meta).toMatchObject({ current_page: 1, next_page: 2, total_pages: 2, total_count: 2 });
  const whole = await listPage(scope(others), shelves, { page: 1, per_page: 20 }, { order: byName });
  expect(whole.meta.total_count).toBe(3);
});

test('clients see neither hidden columns nor keys of absent ones, and the schema says so', () => {
  const row = { id: newId(), code: 'a', name: 'Top', note: null, label: null, weight: null, is_named: true };
  const view = {
    svc_id: row.id,
    code: 'a',
    name: 'Top',
    note: null,
    is_named: true,
    created_at: '2026-01-01T00:00:00Z',
  };
  expect(viewOf(shelves, { ...row, created_at: MADE })).toEqual(view);
  expect(Object.keys(viewOf(shelves, { ...row, created_at: MADE }))).not.toContain('label');
  expect(viewSchema(shelves).strict().parse(view)).toEqual(view);
  expect(viewSchema(shelves).safeParse({ ...view, note: undefined }).success).toBe(false);
});
