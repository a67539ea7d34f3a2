import type { Context } from '../../../platform/context.ts';
import type { CorrectionId } from '../../../platform/ids.ts';
import { applyCorrection, lockForCorrection } from '../../usage/event-corrections/apply-correction.ts';
import { type CorrectionRow, getCorrection, lockCorrection } from '../../usage/event-corrections/queries.ts';
import { countInvoices, takeRangeEvents, updateProgress } from '../../usage/event-corrections/writes.ts';
import { attempt } from '../settle-usage/attempt-or-undo.ts';
import { markChains } from '../settle-usage/in-advance/mark-chains.ts';
import { keepPricesBefore } from '../settle-usage/keep-prices-before-change.ts';
import { insertPeriods } from '../settle-usage/periods-to-settle.ts';
import { settleBeforeCorrection } from '../settle-usage/settle-late-events.ts';
import { settleNext } from '../settle-usage/settle-periods.ts';

/** How many events one transaction retracts: a tenth of a second, for which their buckets are held. */
const EVENTS_A_PAGE = 1000;
/** Invoices settled in one transaction. */
const INVOICES_A_STEP = 5;

/**
 * Step `retract-range`: retracts the next page of the events that a range found, and leaves the rest to the next step;
 * after the last page the settlement follows. Events that were retracted meanwhile are skipped. A page that cannot be
 * done ends the correction as `failed`, with the pages before it done; it may be retried.
 * Rule: event-corrections.md#order-of-work.
 */
export async function retractRange(
  ctx: Context,
  { correction_id: id }: { correction_id: CorrectionId },
): Promise<void> {
  const { external_subscription_id } = await getCorrection(ctx, id);
  await lockForCorrection(ctx, external_subscription_id);
  const correction = await lockCorrection(ctx, id);
  if (correction.status !== 'pending') return;
  const started = { ...correction, started_at: correction.started_at ?? ctx.now() };
  const outcome = await attempt(ctx, id, (on) => retractPage(on, started));
  const after = 'done' in outcome ? outcome.done : { ...started, ...outcome.failure };
  await updateProgress(ctx, id, after);
  await countInvoices(ctx, id);
  if (after.status === 'pending') ctx.after({ step: 'retract-range', payload: { correction_id: id } });
  if (after.status === 'applied') ctx.after({ step: 'settle-correction', payload: { correction_id: id } });
}

async function retractPage(ctx: Context, correction: CorrectionRow): Promise<CorrectionRow> {
  const events = await takeRangeEvents(ctx, correction.id, EVENTS_A_PAGE);
  const live = events.flatMap(({ id, code }) => (code === null ? [] : [{ id, code }]));
  if (live.length > 0) {
    await settleBeforeCorrection(
      ctx,
      live.map((event) => event.id),
    );
    await keepPricesBefore(ctx, correction, { codes: live.map(({ code }) => code) });
    const { invoiced } = await applyCorrection(ctx, correction, { events: live, amendments: null });
    await insertPeriods(ctx, correction.id, invoiced);
    await markChains(
      ctx,
      correction,
      live.map((event) => event.id),
    );
  }
  const done = correction.done + events.length;
  return { ...correction, done, status: events.length === EVENTS_A_PAGE ? 'pending' : 'applied' };
}

/**
 * Step `settle-correction`: settles the next invoices that an applied correction concerns; with the last one the
 * correction is settled. Rule: event-corrections.md#order-of-work "transaction 2".
 */
export async function settleCorrection(
  ctx: Context,
  { correction_id: id }: { correction_id: CorrectionId },
): Promise<void> {
  const { external_subscription_id } = await getCorrection(ctx, id);
  await lockForCorrection(ctx, external_subscription_id);
  const correction = await lockCorrection(ctx, id);
  if (correction.status !== 'applied') return;
  await settleNext(ctx, correction, { most: INVOICES_A_STEP, owesNext: true });
}
