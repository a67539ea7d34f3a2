import type { Context } from '../../platform/context.ts';
import { Refusal } from '../../platform/refusal.ts';
import { announceSettled, applyCorrection, lockForCorrection } from '../../resources/event-corrections/apply.ts';
import { type CorrectionRow, getCorrection, lockCorrection } from '../../resources/event-corrections/queries.ts';
import { insertRecorded, takeRangeEvents, updateProgress } from '../../resources/event-corrections/writes.ts';

/** Events retracted in one transaction: a tenth of a second, for which their buckets are held. */
const EVENTS_A_PAGE = 1000;
const PAGE = 'correction_page';

/**
 * Step `retract-range`: retracts the next page of the events that a range found, and leaves the rest to the next step.
 * Events that somebody else retracted meanwhile are skipped. A page whose period was invoiced meanwhile ends the
 * correction as `failed`, with the pages before it done; it may be retried. Rule: beyond 4.5.
 */
export async function retractRange(ctx: Context, { correction_id: id }: { correction_id: string }): Promise<void> {
  const { external_subscription_id } = await getCorrection(ctx.db, ctx.organizationId, id);
  await lockForCorrection(ctx, external_subscription_id);
  const correction = await lockCorrection(ctx.db, ctx.organizationId, id);
  if (correction.status !== 'pending') return;
  const started = { ...correction, started_at: correction.started_at ?? ctx.now() };
  const after = await retractPage(ctx, started);
  await updateProgress(ctx.db, ctx.organizationId, id, after);
  if (after.status === 'pending') ctx.after({ job: 'retract-range', payload: { correction_id: id } });
  if (after.status === 'settled') announceSettled(ctx, after);
}

async function retractPage(ctx: Context, correction: CorrectionRow): Promise<CorrectionRow> {
  const { db, organizationId } = ctx;
  await db.unsafe(`savepoint ${PAGE}`);
  const events = await takeRangeEvents(db, organizationId, correction.id, EVENTS_A_PAGE);
  const live = events.flatMap(({ id, code }) => (code === null ? [] : [{ id, code }]));
  try {
    if (live.length > 0) {
      const { invoiced } = await applyCorrection(ctx, correction, live, null);
      if (invoiced.length > 0) await insertRecorded(db, organizationId, correction.id, invoiced, ctx.now());
    }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    await db.unsafe(`rollback to savepoint ${PAGE}`);
    const code = 'unsupported_value';
    const message = 'A period of these events was invoiced meanwhile';
    return { ...correction, status: 'failed', error: { code, message, svc_resource_id: null }, finished_at: ctx.now() };
  }
  const done = correction.done + events.length;
  if (events.length === EVENTS_A_PAGE) return { ...correction, done };
  return { ...correction, status: 'settled', done, finished_at: ctx.now() };
}
