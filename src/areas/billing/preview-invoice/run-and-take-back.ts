import type { Temporal } from 'temporal-polyfill';
import type { Context } from '../../../platform/context.ts';
import type { PreviewSchemas } from '../../../platform/db/preview-tables.ts';
import { dryRun } from '../../../platform/records/nested.ts';
import { BILL_STEP, type BillStep } from '../../subscriptions/subscriptions/commands/start.ts';
import { copyOwnRows, type Imagining } from './copied-rows.ts';

/** A context in which commands run without announcements, with the invoices that they then owe. */
export interface Imagined {
  at(instant: Temporal.Instant): Context;
  owed: BillStep[];
  schemas: PreviewSchemas;
}

/**
 * Lets a story run and takes everything back that it wrote: what is previewed is made by the very code that makes it
 * later, and nothing of it stays. No record, no notification, no owed work, no number is left.
 *
 * No other transaction waits for it: it changes copies, its new rows have ids of their own, and their references are
 * never checked, since the check is deferred to a commit that does not come.
 *
 * A story that Postgres refuses leaves the transaction around it usable; it writes through the contexts that it is
 * given.
 *
 * @throws NoSeat while other previews of the organization have all tables that there are for it
 */
export async function imagine<Answer>(
  ctx: Context,
  about: Omit<Imagining, 'organizationId'>,
  story: (imagined: Imagined) => Promise<Answer>,
): Promise<Answer> {
  return await dryRun(ctx, async (own) => {
    const owed: BillStep[] = [];
    const at = (instant: Temporal.Instant): Context => ({
      ...own,
      now: () => instant,
      after: (entry) => {
        if ('step' in entry && entry.step === BILL_STEP) owed.push(entry.payload);
      },
    });
    await own.db`set constraints all deferred`;
    const schemas = await copyOwnRows(own, { organizationId: ctx.organizationId, ...about });
    return await story({ at, owed, schemas });
  });
}
