import { newId } from '../ids.ts';
import { refuse } from '../refusal.ts';
import type { Noun, RowOf, StoredOf } from '../schema/columns.ts';
import type { Db, Fragment } from './connect.ts';
import type { Scope, WriteScope } from './scope.ts';
import { columnValues } from './values.ts';

/** The select list for whole rows of a noun; the row has the noun's name in the statement. */
export function columnsOf(db: Db, noun: Noun): Fragment {
  const stored = db`${db(storedNames(noun).map((column) => `${noun.name}.${column}`))}`;
  return Object.entries(noun.columns).reduce(
    (list, [column, { sql }]) => (sql ? db`${list}, ${sql(db)} as ${db(column)}` : list),
    stored,
  );
}

/** The live row with a code. */
export async function findRow<Given extends Noun>(
  scope: Scope,
  noun: Given,
  code: string,
): Promise<RowOf<Given> | undefined> {
  const [row] = await liveRow(scope, noun, code);
  return row as RowOf<Given> | undefined;
}

/** @throws Refusal 404, when no live row has the code */
export async function getRow<Given extends Noun>(scope: Scope, noun: Given, code: string): Promise<RowOf<Given>> {
  return found(noun, await liveRow(scope, noun, code));
}

/**
 * As getRow, and locks the row until the transaction ends: exclusively (`update`), so that others may only write rows
 * that refer to it (`no key update`), or shared with other readers (`share`).
 *
 * @throws Refusal 404
 */
export async function lockRow<Given extends Noun>(
  scope: Scope,
  noun: Given,
  code: string,
  strength: keyof ReturnType<typeof lockTexts> = 'update',
): Promise<RowOf<Given>> {
  const lock = lockTexts(scope.db)[strength];
  return found(noun, await liveRow(scope, noun, code, lock));
}

/** Fixed texts, by which previews recognise and omit locks (without-locks.ts). */
const lockTexts = (db: Db) => ({
  update: db`for update`,
  'no key update': db`for no key update`,
  share: db`for share`,
});

const liveRow = ({ db, organizationId }: Scope, noun: Noun, code: string, lock: Fragment = db``) => db`
  select ${columnsOf(db, noun)} from ${db(noun.table)} ${db(noun.name)}
  where organization_id = ${organizationId} and code = ${code} and deleted_at is null
  ${lock}`;

function found<Given extends Noun>({ name }: Given, [row]: readonly object[]): RowOf<Given> {
  if (!row) throw refuse.notFound(name);
  return row as RowOf<Given>;
}

/**
 * Refuses a code that a live row other than `exceptId` has.
 *
 * @throws Refusal 422 code: value_already_exist
 */
export async function refuseTakenCode(
  { db, organizationId }: Scope,
  { table }: Noun,
  code: string,
  exceptId: string | null = null,
): Promise<void> {
  const [row] = await db<{ taken: boolean }[]>`
    select exists (
      select from ${db(table)} where organization_id = ${organizationId} and code = ${code} and deleted_at is null
        and id is distinct from ${exceptId}::uuid) as taken`;
  if (row!.taken) throw refuse.invalid({ code: ['value_already_exist'] });
}

type Stamped = 'id' | 'organization_id' | 'created_at' | 'updated_at';
type NullableNames<Row> = { [Name in keyof Row]: null extends Row[Name] ? Name : never }[keyof Row];
/** Fields of a new row; nullable ones may be absent. */
export type NewRow<Given extends Noun> = Omit<StoredOf<Given>, Stamped | NullableNames<StoredOf<Given>>> &
  Partial<Pick<StoredOf<Given>, NullableNames<StoredOf<Given>>>>;

/** Inserts a row with a new id and the current time. Only columns of the noun are written; other fields are ignored. */
export async function insertRow<Given extends Noun>(
  { db, organizationId, now }: WriteScope,
  noun: Given,
  fields: NewRow<Given>,
): Promise<StoredOf<Given>> {
  const at = now();
  const stamps = { id: newId(), organization_id: organizationId, created_at: at, updated_at: at };
  const row = chosen(noun, { ...fields, ...stamps });
  await db`insert into ${db(noun.table)} ${db(columnValues({ ...row, ...stamps }))}`;
  return row as StoredOf<Given>;
}

/** Changes a row that was read and locked; absent fields stay. Returns it as it is now. */
export async function updateRow<Given extends Noun>(
  { db, organizationId, now }: WriteScope,
  noun: Given,
  stored: RowOf<Given> & { id: string },
  change: Partial<StoredOf<Given>>,
): Promise<RowOf<Given>> {
  const changed = storedNames(noun).flatMap((name) => {
    const value = (change as Record<string, unknown>)[name];
    return value === undefined ? [] : [[name, value]];
  });
  const row = { ...stored, ...Object.fromEntries(changed), updated_at: now() };
  const written: Record<string, unknown> = { ...chosen(noun, row), updated_at: row.updated_at };
  for (const fixed of ['id', 'organization_id', 'created_at']) delete written[fixed];
  await db`
    update ${db(noun.table)} set ${db(columnValues(written))}
    where organization_id = ${organizationId} and id = ${stored.id}`;
  return row;
}

/** Marks a row deleted: it is no longer found, and its code is free again. */
export const deleteRow = ({ db, organizationId, now }: WriteScope, { table }: Noun, id: string) => db`
  update ${db(table)} set deleted_at = ${now()}, updated_at = ${now()}
  where organization_id = ${organizationId} and id = ${id}`;

/** The columns of the noun's table; null for fields that were not given. */
const chosen = (noun: Noun, given: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(storedNames(noun).map((name) => [name, given[name] ?? null]));

const storedNames = ({ columns }: Noun): string[] =>
  Object.entries(columns).flatMap(([name, { sql }]) => (sql ? [] : [name]));
