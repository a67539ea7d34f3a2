import type { Db } from '../db/connect.ts';
import { json } from '../db/values.ts';
import { isFormerForm, keyIdOf, type Place } from './seal.ts';
import { configuredKeys, DEPLOYMENT_KEY_ID, openText, type SecretSettings, sealText } from './secrets.ts';

/** How many rows one transaction seals again: a few milliseconds of AES, and locks of that many rows at most. */
const ROWS_AT_ONCE = 500;
/** How many texts of each field and key a start opens: one would be enough, three also show a single damaged row. */
const SAMPLE_ROWS = 3;
/** Counted for a text that was stored in plain form, before secrets were sealed there. */
export const NOT_SEALED = 'not sealed';
/** Counted for a text in the first form, which names no key. */
export const FORMER_FORM = 'former form';

/** A column whose texts are sealed. */
interface SealedColumn {
  table: string;
  column: string;
  /** Field of the place; see Place. */
  field: string;
  /** A JSON object of sealed texts by name, instead of one text. */
  isObject?: true;
}

/** Every column that stores secrets permanently. Sealed answers of commands expire and are not sealed again. */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  { table: 'deployment_keys', column: 'private_key', field: 'private_key' },
  { table: 'organizations', column: 'hmac_key', field: 'hmac_key' },
  { table: 'organizations', column: 'former_hmac_key', field: 'hmac_key' },
  { table: 'webhook_endpoints', column: 'secret', field: 'secret' },
  { table: 'webhook_endpoints', column: 'former_secret', field: 'secret' },
  { table: 'payment_providers', column: 'secrets', field: 'secrets', isObject: true },
  { table: 'integrations', column: 'secrets', field: 'secrets', isObject: true },
];

interface StoredText {
  id: string;
  /** Name within an object, else an empty text. */
  name: string;
  text: string;
}

export interface KeyCount {
  table: string;
  column: string;
  /** Id of the key, or NOT_SEALED, or FORMER_FORM. */
  key: string;
  texts: number;
}

const placeOf = ({ table, field }: SealedColumn, { id, name }: Pick<StoredText, 'id' | 'name'>): Place => ({
  table,
  row: id,
  field: name === '' ? field : `${field}.${name}`,
});

/** The texts of a column, one row each, as a table expression. */
const textsOf = (db: Db, { table, column, isObject }: SealedColumn) =>
  isObject
    ? db`(select t.id, each.key as name, each.value as text
          from ${db(table)} t cross join lateral jsonb_each_text(t.${db(column)}) each) stored`
    : db`(select id, '' as name, ${db(column)} as text from ${db(table)} where ${db(column)} is not null) stored`;

const keyColumn = (db: Db) => db`
  case when text ~ '^v2:[a-z0-9-]{1,20}:' then split_part(text, ':', 2)
    when text like 'sealed:%' then ${FORMER_FORM}::text else ${NOT_SEALED}::text end`;

/** Number of texts that each key has sealed, by column. */
export async function countByKey(db: Db): Promise<KeyCount[]> {
  const counts: KeyCount[] = [];
  for (const each of SEALED_COLUMNS) {
    const rows = await db<{ key: string; texts: number }[]>`
      select ${keyColumn(db)} as key, count(*) as texts from ${textsOf(db, each)} group by 1 order by 1`;
    counts.push(...rows.map((row) => ({ table: each.table, column: each.column, ...row })));
  }
  return counts;
}

/** Sealed answers of commands by key; they expire within IDEMPOTENCY_TTL_HOURS. */
export const countAnswersByKey = (db: Db) => db<{ key: string; texts: number }[]>`
  select ${keyColumn(db)} as key, count(*) as texts
  from (select body as text from idempotency_keys where body ~ '^(v2|sealed):') stored group by 1 order by 1`;

/** A text that does not open, and why. */
export interface Closed {
  table: string;
  column: string;
  id: string;
  key: string;
}

const keyNameOf = (text: string): string => keyIdOf(text) ?? (isFormerForm(text) ? FORMER_FORM : NOT_SEALED);

async function closedOf(
  db: Db,
  config: SecretSettings,
  { column, rows }: { column: SealedColumn; rows: readonly StoredText[] },
) {
  const closed: Closed[] = [];
  for (const row of rows) {
    try {
      await openText({ db, config }, row.text, placeOf(column, row));
    } catch {
      closed.push({ table: column.table, column: column.column, id: row.id, key: keyNameOf(row.text) });
    }
  }
  return closed;
}

/** Opens a few of the newest texts of every column and key; returns those that stay closed. */
export async function openSample(db: Db, config: SecretSettings): Promise<Closed[]> {
  const closed: Closed[] = [];
  for (const each of SEALED_COLUMNS) {
    const rows = await db<StoredText[]>`
      select id, name, text from (
        select stored.*, row_number() over (partition by ${keyColumn(db)} order by id desc) as place
        from ${textsOf(db, each)}
      ) ranked where place <= ${SAMPLE_ROWS}`;
    closed.push(...(await closedOf(db, config, { column: each, rows })));
  }
  return closed;
}

/** Opens every text, a few hundred at a time. */
export async function openAll(db: Db, config: SecretSettings): Promise<{ opened: number; closed: Closed[] }> {
  const closed: Closed[] = [];
  let read = 0;
  for (const each of SEALED_COLUMNS) {
    for await (const rows of pagesOf(db, each)) {
      read += rows.length;
      closed.push(...(await closedOf(db, config, { column: each, rows })));
    }
  }
  return { opened: read - closed.length, closed };
}

/** The texts of a column by the ids of their rows, whole rows together. */
async function* pagesOf(db: Db, column: SealedColumn): AsyncGenerator<StoredText[]> {
  let after = '00000000-0000-0000-0000-000000000000';
  for (;;) {
    const page = await db<{ id: string }[]>`
      select id from ${db(column.table)} where id > ${after}::uuid order by id limit ${ROWS_AT_ONCE}`;
    if (page.length === 0) return;
    const ids = page.map(({ id }) => id);
    yield await db<StoredText[]>`
      select id, name, text from ${textsOf(db, column)} where id = any (${ids}::uuid[]) order by id`;
    after = ids.at(-1)!;
  }
}

/**
 * Seals texts of other keys again with the first key of the settings, 500 rows a transaction. A row changed meanwhile
 * is skipped; another run, also after an interruption, does the rest.
 *
 * which `former`: texts never sealed, sealed by the deployment's own key or in the first form; `all`: everything
 * hold  called before each page: proves that nobody else seals
 *
 * @returns the number of texts sealed again, and those that no key opens
 */
export async function sealAgain(
  sql: Db,
  config: SecretSettings,
  which: 'former' | 'all',
  hold: () => Promise<void> = async () => {},
): Promise<{ sealed: number; closed: Closed[] }> {
  const first = configuredKeys(config)[0]?.id;
  const closed: Closed[] = [];
  let sealed = 0;
  if (first === undefined) return { sealed, closed };
  const isLeft = (text: string) => {
    const id = keyIdOf(text);
    return which === 'all' ? id !== first : id === undefined || id === DEPLOYMENT_KEY_ID;
  };
  for (const each of SEALED_COLUMNS) {
    for await (const rows of pagesOf(sql, each)) {
      await hold();
      const left = rows.filter(({ text }) => isLeft(text));
      const changed: (StoredText & { resealed: string })[] = [];
      for (const row of left) {
        const place = placeOf(each, row);
        try {
          const text = await openText({ db: sql, config }, row.text, place);
          changed.push({ ...row, resealed: await sealText({ db: sql, config }, text, place) });
        } catch {
          closed.push({ table: each.table, column: each.column, id: row.id, key: keyNameOf(row.text) });
        }
      }
      if (changed.length > 0) sealed += await replaceTexts(sql, each, changed);
    }
  }
  return { sealed, closed };
}

async function replaceTexts(
  sql: Db,
  { table, column, isObject }: SealedColumn,
  changed: (StoredText & { resealed: string })[],
): Promise<number> {
  const given = sql`jsonb_to_recordset(${json(changed)}::jsonb) as given (id uuid, name text, text text,
    resealed text)`;
  if (!isObject) {
    const { count } = await sql`
      update ${sql(table)} t set ${sql(column)} = given.resealed from ${given}
      where t.id = given.id and t.${sql(column)} = given.text`;
    return count;
  }
  // All texts of a row together, because an update changes each row once. A row changed meanwhile is left to the next
  // run.
  const { count } = await sql`
    update ${sql(table)} t set ${sql(column)} = t.${sql(column)} || fresh.texts
    from (
      select given.id, jsonb_object_agg(given.name, given.resealed) as texts, jsonb_object_agg(given.name,
        given.text) as former
      from ${given} group by given.id
    ) fresh
    where t.id = fresh.id and t.${sql(column)} @> fresh.former`;
  return count;
}
