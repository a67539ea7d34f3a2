import { z } from 'zod';
import type { Context } from '../../../platform/context.ts';
import type { EventId, ExternalCustomerId, InvoiceId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { periodicJob } from '../../../platform/periodic-job.ts';
import { nested } from '../../../platform/records/nested.ts';
import { Refusal } from '../../../platform/refusal.ts';
import type { StepPayload } from '../../../steps.ts';
import { announceSettled } from '../../usage/event-corrections/announce.ts';
import { lockForCorrection } from '../../usage/event-corrections/apply-correction.ts';
import { eventsOfIds } from '../../usage/event-corrections/lock-events.ts';
import { listConcernedCharges } from '../../usage/event-corrections/periods.ts';
import type { CorrectionRow } from '../../usage/event-corrections/queries.ts';
import { settleTakenEvents, takeLateEvents } from '../../usage/event-corrections/taken-late-events.ts';
import { correctionView } from '../../usage/event-corrections/view.ts';
import { insertCorrection, updateProgress } from '../../usage/event-corrections/writes.ts';
import { listInPlace } from './issued-fees.ts';
import {
  type LateGroup,
  listLateGroups,
  listLateGroupsAmong,
  listLateGroupsOf,
  listLateOrganizations,
  lockCursor,
  moveCursor,
} from './late-groups.ts';
import { settlePeriods } from './settle-periods.ts';
import { insertPeriods } from './settled-items.ts';

/** Ids of events in one step. */
const EVENTS_A_STEP = 5000;
const REASON = 'Late usage';

/**
 * Makes corrections of events that came after their window was put on a final invoice, where the policy says so. Rules:
 * event-corrections.md#late-events, periodic-jobs.md#late-events.
 */
export const lateEvents = periodicJob({
  name: 'late-events',
  item: z.object({}),
  async select(sql, _at, reach, limit) {
    const due = await listLateOrganizations(sql, reach, limit);
    return due.map(({ organization_id, sandbox, seen_id }) => ({
      organization_id,
      sandbox,
      item: {},
      key: `late-${organization_id}-${seen_id ?? 'first'}`,
      resource: { type: 'Organization', id: organization_id },
    }));
  },
  async work(ctx) {
    const seen = await lockCursor(ctx);
    if (seen === undefined) return;
    // Whether an event is late is decided when it is stored, so each is looked at once, late or not.
    const seenNow = newId();
    oweGroups(ctx, await listLateGroups(ctx, seen));
    await moveCursor(ctx, seenNow);
  },
  async nextDueAt({ db: sql, organizationId }, after) {
    const due = await listLateOrganizations(sql, { organizationId }, 1);
    return due.length > 0 ? after : null;
  },
});

type LateEvents = StepPayload<'settle-late-events'>;

const payloadOf = ({ external_subscription_id, window_from, policy, event_ids }: LateGroup): LateEvents => ({
  external_subscription_id,
  window_from: window_from.toString(),
  policy,
  event_ids,
});

function oweGroups(ctx: Context, groups: readonly LateGroup[]): void {
  for (const group of groups)
    for (let n = 0; n < group.event_ids.length; n += EVENTS_A_STEP)
      ctx.after({
        step: 'settle-late-events',
        payload: payloadOf({ ...group, event_ids: group.event_ids.slice(n, n + EVENTS_A_STEP) }),
      });
}

/**
 * Step `look-at-late-events`: looks once more at what came late for an invoice that was made in the place of another
 * one: while there was none, it was late for nothing. Rule: event-corrections.md#regenerated-invoices.
 */
export async function lookAtLateEvents(
  ctx: Context,
  { invoice_id: invoiceId }: { invoice_id: InvoiceId },
): Promise<void> {
  const [firstInvoiceId] = await listInPlace(ctx, invoiceId);
  oweGroups(ctx, await listLateGroupsOf(ctx, { invoiceId, firstInvoiceId: firstInvoiceId! }));
}

/**
 * Settles events that came late, before a correction changes them: by the policy under which they came, as if they had
 * been looked at. What no cents can hold is left to the correction. Rule: event-corrections.md#late-events.
 */
export async function settleBeforeCorrection(ctx: Context, eventIds: readonly EventId[]): Promise<void> {
  for (const group of await listLateGroupsAmong(ctx, eventIds))
    try {
      await nested(ctx, (own) => settleLateEvents(own, payloadOf(group)));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
    }
}

/**
 * Step `settle-late-events`: settles late events of one subscription and window as a correction of kind `late_events`.
 * When their invoices are right already, there is none. Rule: event-corrections.md#late-events.
 */
export async function settleLateEvents(ctx: Context, late: LateEvents): Promise<void> {
  const customers = await lockForCorrection(ctx, late.external_subscription_id);
  // Taken in even without a difference of their own, because a later correction builds on them.
  const taken = await takeLateEvents(ctx, late.event_ids, ctx.now());
  if (taken.length === 0) return;
  const nothing = new Error('nothing to settle');
  try {
    await nested(ctx, async (own) => {
      if (!(await settle(own, { ...late, event_ids: taken }, customers.length === 1 ? customers[0]! : null)))
        throw nothing;
    });
  } catch (error) {
    if (error !== nothing) throw error;
  }
}

/** @returns whether there was anything to settle */
async function settle(ctx: Context, late: LateEvents, externalCustomerId: ExternalCustomerId | null): Promise<boolean> {
  const { db } = ctx;
  const moments = db`select distinct e.code, e.timestamp from ${eventsOfIds(ctx, late.event_ids)}`;
  const concerned = await listConcernedCharges(ctx, late.external_subscription_id, { moments, withRenewals: false });
  const invoiced = concerned.filter(({ is_draft }) => !is_draft);
  if (invoiced.length === 0) return false;
  const correction = lateCorrection(ctx, late, new Set(invoiced.map(({ invoice_id }) => invoice_id)).size);
  await insertCorrection(ctx, correction);
  await settleTakenEvents(ctx, late.event_ids, correction.id);
  await insertPeriods(ctx, correction.id, invoiced);
  const { isSettled, adjustments } = await settlePeriods(ctx, correction);
  if (isSettled && adjustments.every(({ delta_amount_cents }) => delta_amount_cents === 0)) return false;
  ctx.record({
    activity: {
      type: 'event_correction.created',
      resourceType: 'EventCorrection',
      resourceId: correction.id,
      object: correctionView(correction),
      externalCustomerId,
      externalSubscriptionId: late.external_subscription_id,
    },
  });
  if (!isSettled) return true;
  const settled: CorrectionRow = { ...correction, status: 'settled', finished_at: ctx.now() };
  await updateProgress(ctx, settled.id, settled);
  announceSettled(ctx, settled);
  return true;
}

const lateCorrection = (ctx: Context, late: LateEvents, invoices: number): CorrectionRow => ({
  id: newId(),
  kind: 'late_events',
  status: 'applied',
  policy: late.policy,
  credit_note_part: 'credit',
  reason: REASON,
  dry_run: false,
  external_subscription_id: late.external_subscription_id,
  transaction_id: null,
  input: { window_from: late.window_from },
  api_key_id: null,
  total: late.event_ids.length,
  done: late.event_ids.length,
  draft_invoices_count: 0,
  invoices_count: invoices,
  error: null,
  created_at: ctx.now(),
  started_at: ctx.now(),
  finished_at: null,
});
