import type { Db, Fragment } from '../../../platform/db/connect.ts';

/**
 * A row of `ai_unpriced` that is found by its event, and open. In other words than those of the indexes over open rows,
 * which all begin with the organization too: while the statistics did not know the table, one of them was read for
 * every call, 3 ms each of 3 000 that waited (storing-events.md#table).
 */
export const isWaitingByKey = (db: Db, waiting: Fragment): Fragment =>
  db`${waiting}.status not in ('healed', 'ignored')`;
