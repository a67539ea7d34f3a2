import type { SweepJob } from '../../../platform/periodic-job.ts';
import { rollUpTail } from '../ledger/daily-sums.ts';

/** Transactions of one statement: some thousand entries, far below a second. */
const BATCH = 2000;

/** Adds what was posted to the sums that balances are read from. Rule: ledger.md#storage. */
export const ledgerDaily: SweepJob = {
  name: 'ledger-daily',
  async sweep({ sql }, _at, hold) {
    do await hold?.();
    while ((await rollUpTail(sql, BATCH)) === BATCH);
  },
};
