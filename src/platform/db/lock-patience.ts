import type { Db } from './connect.ts';

/** Longest wait for a lock from here to the end of the transaction. */
export const waitForLocks = (db: Db, patienceMs: number) => db`
  select set_config('lock_timeout', ${String(patienceMs)}, true) as ms`;

/**
 * The same as the first part of a statement, which takes its locks after it has read this row; without a time they are
 * waited for as long as the transaction does.
 */
export const patienceOf = (db: Db, patienceMs: number | undefined) =>
  patienceMs === undefined ? db`select 'own' as ms` : waitForLocks(db, patienceMs);
