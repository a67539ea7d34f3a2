/**
 * Texts of more characters are no number that anybody meters: aggregations ignore them, in rollups and scans alike.
 * Postgres would refuse one of 131 073 digits, and with it every later count (decision).
 */
export const MAX_NUMBER_LENGTH = 1000;
