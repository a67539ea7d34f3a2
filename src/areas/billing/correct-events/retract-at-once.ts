import type { Context } from '../../../platform/context.ts';
import type { Fragment } from '../../../platform/db/connect.ts';
import type { EventToCorrect } from '../../usage/event-corrections/lock-events.ts';
import type { CorrectionRow } from '../../usage/event-corrections/queries.ts';

/**
 * A dry run carries out ranges up to this length and undoes them; for longer ones it reports only the invoices
 * concerned.
 */
const MOST_PREVIEWED = 1000;

/** Retracts all events of a short range in one go; undefined for a long or an empty one. */
export async function retractEventsAtOnce<Outcome>(
  ctx: Context,
  asked: CorrectionRow,
  {
    source,
    total,
    correct,
  }: {
    source: Fragment;
    total: number;
    correct: (
      ctx: Context,
      asked: CorrectionRow,
      events: readonly Pick<EventToCorrect, 'id' | 'code'>[],
      payload: null,
      warning: null,
    ) => Promise<Outcome>;
  },
): Promise<Outcome | undefined> {
  if (total === 0 || total > MOST_PREVIEWED) return undefined;
  const events = await ctx.db<Pick<EventToCorrect, 'id' | 'code'>[]>`
    select e.id, e.code from ${source} order by e.id for update`;
  return correct(ctx, { ...asked, total }, events, null, null);
}
