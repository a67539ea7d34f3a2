import type postgres from 'postgres';

/**
 * A value for a `jsonb` parameter: the driver writes it as JSON, and its own types refuse records with instants,
 * decimals or absent fields, which are written as their `toJSON` says.
 */
export const json = (value: object | null) => value as unknown as postgres.Parameter;

/**
 * Columns with their values for `db(…)` in an insert or update: the driver's own types know no record by its interface.
 */
export const columnValues = (values: object) => values as Record<string, never>;
