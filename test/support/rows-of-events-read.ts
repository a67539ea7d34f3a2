import type { Db } from '../../src/platform/db/connect.ts';
import type { TestService } from './service.ts';

/** How many rows of events a piece of work reads. */
export async function rowsOfEventsRead(
  service: Pick<TestService, 'sql'>,
  work: (db: Db) => Promise<unknown>,
): Promise<number> {
  const { before, after } = await service.sql.begin(async (tx) => {
    // A session counts on until it has reported.
    const soFar = async () => {
      const [row] = await tx<{ count: number }[]>`
        select (seq_tup_read + coalesce(idx_tup_fetch, 0))::bigint as count
        from pg_stat_xact_user_tables where relname = 'events'`;
      return row!.count;
    };
    const counted = await soFar();
    await work(tx as unknown as Db);
    return { before: counted, after: await soFar() };
  });
  return after - before;
}
