import type { Temporal } from 'temporal-polyfill';
import type { Context } from '../../../platform/context.ts';
import type { Tx } from '../../../platform/db/connect.ts';
import { BILL_STEP, type BillStep } from '../../subscriptions/subscriptions/commands/start.ts';
import { copyOwnRows, type Imagining } from './own-copies.ts';

/** A present in which commands run and nobody hears of it, with the invoices that they then owe. */
export interface Imagined {
  at(instant: Temporal.Instant): Context;
  owed: BillStep[];
}

/**
 * Lets a story run and takes everything back that it wrote: what is previewed is made by the very code that makes it
 * later, and nothing of it stays. No record, no notification, no owed work, no number is left.
 *
 * No other transaction waits for it: it changes copies, its new rows have ids of their own, and their references are never
 * checked, since the check is deferred to a commit that does not come.
 *
 * The savepoint is the driver's own, so that a story that Postgres refuses leaves the transaction around it usable; the
 * story writes through the contexts that it is given.
 */
export async function imagine<Answer>(
  ctx: Context,
  about: Omit<Imagining, 'organizationId'>,
  story: (imagined: Imagined) => Promise<Answer>,
): Promise<Answer> {
  let answer: Answer | undefined;
  const takenBack = new Error('taken back');
  try {
    await (ctx.db as Tx).savepoint(async (db) => {
      const owed: BillStep[] = [];
      const at = (instant: Temporal.Instant): Context => ({
        ...ctx,
        db,
        now: () => instant,
        record: () => {},
        after: (entry) => {
          if ('step' in entry && entry.step === BILL_STEP) owed.push(entry.payload);
        },
      });
      await db`set constraints all deferred`;
      await copyOwnRows({ ...ctx, db }, { organizationId: ctx.organizationId, ...about });
      answer = await story({ at, owed });
      throw takenBack;
    });
  } catch (error) {
    if (error !== takenBack) throw error;
  }
  return answer!;
}
