import type { Db, Fragment, Tx } from './connect.ts';
import type { Scope } from './scope.ts';

/**
 * How many previews of one organization run at the same time, in all processes together. Migration 0031 makes tables
 * for as many.
 */
const SEATS = 2;
/** Namespace of the advisory locks of seats; the others are in src/areas/catalog/usage-shapes/shape-locks.ts. */
const SEATS_SEED = 5311;

/** Previews of the organization have all seats: one of them is over soon. */
export class NoSeat extends Error {}

/** Schemas of tables that are named like stored ones. */
export interface PreviewSchemas {
  /** Empty, for copies of rows that the preview changes. */
  rows: string;
  /** Empty, for the fees of a draft that is computed again. */
  fees: string;
  /** What is stored, without the computation of the draft that `meterstone.previewed_draft` names. */
  draft: string;
}

/**
 * Takes tables of a preview's own until its transaction ends, which must be rolled back. They are made once, by a
 * migration: no preview writes to the catalog. Rows of previews under way are not seen by others, but those of one
 * organization would have the same keys and wait for each other; so each of them has a seat.
 *
 * @throws NoSeat
 */
export async function takePreviewTables({ db: tx, organizationId }: Scope<Tx>): Promise<PreviewSchemas> {
  // `unsafe`: without-locks.ts leaves out the locks of queries, and this one keeps out previews only.
  const [row] = await tx.unsafe<{ seat: number; own: string }[]>(
    `select seat, current_schema() as own from generate_series(1, ${SEATS}) seat
    where pg_try_advisory_xact_lock(hashtextextended($1 || ' ' || seat, ${SEATS_SEED}))
    limit 1`,
    [organizationId],
  );
  if (!row) throw new NoSeat();
  const prefix = `${row.own}_preview`;
  return { rows: `${prefix}_${row.seat}`, fees: `${prefix}_fees_${row.seat}`, draft: `${prefix}_draft` };
}

/**
 * Lets the rest of the transaction, or of its savepoint, find the tables of a schema before others of their names.
 * Postgres plans a statement again whose path has changed since it was prepared.
 */
export const lookFirstIn = (tx: Tx, schema: string) => tx`
  select set_config('search_path', quote_ident(${schema}) || ', ' || current_setting('search_path'), true)`;

/**
 * Notes for the rest of the transaction that it is a preview, which flags nothing for later: nothing of it stays, and a
 * flag would lock the row of a draft.
 */
export const imagineFrom = (tx: Tx) => tx`select set_config('meterstone.imagined', 'true', true)`;

/** Whether the transaction is a preview, in SQL. */
export const isImagined = (db: Db): Fragment =>
  db`current_setting('meterstone.imagined', true) is not distinct from 'true'`;
