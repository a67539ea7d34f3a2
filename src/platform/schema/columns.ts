import type { Temporal } from 'temporal-polyfill';
import { z } from 'zod';
import type { Decimal } from '../../engine/money/decimal.ts';
import type { Db, Fragment } from '../db/connect.ts';
import { seconds } from './view.ts';

/** A column of a catalogue noun: its value in Postgres, and what clients see of it. */
export interface Column<Stored, Shown extends z.ZodType | null = z.ZodType | null> {
  /** Schema for clients; null if they do not see it. */
  shown: Shown;
  /** Value for clients; undefined omits the key. */
  show: (stored: Stored) => unknown;
  /** For a computed column: its SQL, in a statement in which the row has the noun's name. */
  sql?: (db: Db) => Fragment;
}

/**
 * The field table of a catalogue noun: the row type, the select list, insert and update, and the view come from it
 * (`RowOf`, `columnsOf`, `insertRow`, `updateRow`, `viewOf`, `viewSchema`). Every table of a noun also has
 * `organization_id`, `updated_at` and `deleted_at`, and its live rows are found by `code`.
 */
export interface Noun<Columns extends AnyColumns = AnyColumns> {
  /** Root key of bodies, the resource of a 404, and the name of a row in SQL: `tax`. */
  name: string;
  table: string;
  /** In the order of the view. The column `id` is shown as `svc_id`. */
  columns: Columns;
}

// biome-ignore lint/suspicious/noExplicitAny: any column fits, whatever it stores
export type AnyColumns = Record<string, Column<any>>;

type Stored<Each> = Each extends { show: (stored: infer Value) => unknown } ? Value : never;
type Computed = { sql: (db: Db) => Fragment };

/** A row as `columnsOf` reads it. */
export type RowOf<Given extends Noun> = {
  -readonly [Name in keyof Given['columns']]: Stored<Given['columns'][Name]>;
};

/** The part of a row that is stored in its table. */
export type StoredOf<Given extends Noun> = {
  [Name in keyof Given['columns'] as Given['columns'][Name] extends Computed ? never : Name]: Stored<
    Given['columns'][Name]
  >;
};

type ShownShape<Columns extends AnyColumns> = {
  [Name in keyof Columns as Columns[Name]['shown'] extends null
    ? never
    : Name extends 'id'
      ? 'svc_id'
      : Name]: NonNullable<Columns[Name]['shown']>;
};
export type ViewOf<Given extends Noun> = z.output<z.ZodObject<ShownShape<Given['columns']>>>;

/** Schema of what clients see of a noun. */
export const viewSchema = <Given extends Noun>({ columns }: Given) =>
  z.object(
    Object.fromEntries(
      Object.entries(columns).flatMap(([name, { shown }]) => (shown === null ? [] : [[shownName(name), shown]])),
    ),
  ) as unknown as z.ZodObject<ShownShape<Given['columns']>>;

/** A row as clients see it. */
export function viewOf<Given extends Noun>({ columns }: Given, row: RowOf<Given>): ViewOf<Given> {
  const view: Record<string, unknown> = {};
  for (const [name, { shown, show }] of Object.entries(columns)) {
    const value = shown === null ? undefined : show(row[name]);
    if (value !== undefined) view[shownName(name)] = value;
  }
  return view as ViewOf<Given>;
}

const shownName = (name: string) => (name === 'id' ? 'svc_id' : name);

/** A column that clients see as it is stored. */
export const plain = <Shown extends z.ZodType>(shown: Shown): Column<z.output<Shown>, Shown> => ({
  shown,
  show: (stored) => stored,
});

const instant: Column<Temporal.Instant, z.ZodISODateTime> = { shown: z.iso.datetime(), show: seconds };
const decimal: Column<Decimal, z.ZodNumber> = { shown: z.number(), show: (stored) => stored.toNumber() };

/** The usual columns: instants are shown in whole seconds, decimals as numbers. */
export const column = {
  uuid: plain(z.uuid()),
  /** The id of the noun, or of one that it refers to. */
  idOf: <Id extends string>() => plain(z.uuid()) as Column<Id, z.ZodUUID>,
  text: plain(z.string()),
  integer: plain(z.int()),
  boolean: plain(z.boolean()),
  texts: plain(z.array(z.string())),
  instant,
  decimal,
};

export const orNull = <Value, Shown extends z.ZodType>({
  shown,
  show,
}: Column<Value, Shown>): Column<Value | null, z.ZodNullable<Shown>> => ({
  shown: shown.nullable(),
  show: (stored) => (stored === null ? null : show(stored)),
});

/** A column whose key clients do not see while it is null. */
export const orAbsent = <Value, Shown extends z.ZodType>({
  shown,
  show,
}: Column<Value, Shown>): Column<Value | null, z.ZodOptional<Shown>> => ({
  shown: shown.optional(),
  show: (stored) => (stored === null ? undefined : show(stored)),
});

/** A column that clients do not see. */
export const hidden = <Value>({ show }: Column<Value>): Column<Value, null> => ({ shown: null, show });

/** A computed column that no table holds. */
export const computed = <Value, Shown extends z.ZodType | null>(
  column: Column<Value, Shown>,
  sql: (db: Db) => Fragment,
): Column<Value, Shown> & Computed => ({ ...column, sql });
