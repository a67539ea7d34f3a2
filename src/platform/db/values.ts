import type postgres from 'postgres';

/**
 * A value for a `jsonb` parameter. The driver's types refuse records with instants, decimals or absent fields, although
 * it writes them correctly with `toJSON`.
 */
export const json = (value: object | null) => value as unknown as postgres.Parameter;

/** Columns with values for `db(…)` in an insert or update, because the driver's types do not accept interfaces. */
export const columnValues = (values: object) => values as Record<string, never>;
