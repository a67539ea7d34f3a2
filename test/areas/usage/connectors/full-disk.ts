import type { Sql } from '../../../../src/platform/db/connect.ts';

/** A database that refuses each statement that is awaited, as a full disk does; a part of a statement never is. */
export const fullDisk = (): Sql =>
  (() => ({
    // biome-ignore lint/suspicious/noThenProperty: as the queries of the driver
    then: (_: unknown, reject: (error: Error) => void) =>
      reject(Object.assign(new Error('could not extend file'), { name: 'PostgresError', code: '53100' })),
  })) as unknown as Sql;
