import { NUMERIC_TEXT } from '../../../engine/metrics/numeric-text.ts';
import type { Db, Fragment } from '../../../platform/db/connect.ts';

/**
 * Longer texts are not numbers: aggregations ignore them, in rollups and scans alike. Postgres would refuse one of 131
 * 073 digits, and with it every later count (decision).
 */
const MAX_NUMBER_LENGTH = 1000;
const NUMERIC = new RegExp(NUMERIC_TEXT);

/** The text if a numeric aggregation accepts it, else null. Rule: aggregation.md#selecting-events (3). */
export const meteredText = (text: string | null): string | null =>
  text !== null && text.length <= MAX_NUMBER_LENGTH && NUMERIC.test(text) ? text : null;

/** The same as a number, of a text in SQL. */
export const meteredNumber = (db: Db, text: Fragment) =>
  db`case when length(${text}) <= ${MAX_NUMBER_LENGTH} and ${text} ~ ${NUMERIC_TEXT} then (${text})::numeric end`;
