import type { Temporal } from 'temporal-polyfill';
import type { Context } from '../../platform/context.ts';
import { BILL_STEP, type BillStep } from '../../resources/subscriptions/commands/start.ts';

/** A present in which commands run and nobody hears of it, with the invoices that they then owe. */
export interface Imagined {
  at(instant: Temporal.Instant): Context;
  owed: BillStep[];
}

/**
 * Lets a story run and takes everything back that it wrote: what is previewed is made by the very code that makes it
 * later, and nothing of it stays. No record, no notification, no owed work, no number is left.
 */
export async function imagine<Answer>(ctx: Context, story: (imagined: Imagined) => Promise<Answer>): Promise<Answer> {
  const owed: BillStep[] = [];
  const at = (instant: Temporal.Instant): Context => ({
    ...ctx,
    now: () => instant,
    record: () => {},
    after: ({ job, payload }) => {
      if (job === BILL_STEP) owed.push(payload as BillStep);
    },
  });
  await ctx.db.unsafe('savepoint preview');
  const answer = await story({ at, owed });
  await ctx.db.unsafe('rollback to savepoint preview');
  return answer;
}
