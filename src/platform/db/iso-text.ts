import type { Db, Fragment } from './connect.ts';

/** An instant of Postgres as ISO text with microseconds, which the hot path keeps as text. */
export const isoText = (db: Db, instant: Fragment) =>
  db`to_char(${instant} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
