import { z } from 'zod';
import type { Context } from '../../../platform/context.ts';
import type { EventId, ExternalCustomerId, ExternalSubscriptionId, InvoiceId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { periodicJob } from '../../../platform/periodic-job.ts';
import { nested } from '../../../platform/records/nested.ts';
import { Refusal } from '../../../platform/refusal.ts';
import type { StepPayload } from '../../../steps.ts';
import { announceSettled } from '../../usage/event-corrections/announce.ts';
import { lockForCorrection } from '../../usage/event-corrections/apply-correction.ts';
import { eventsOfIds } from '../../usage/event-corrections/lock-events.ts';
import { type ConcernedCharge, listConcernedCharges } from '../../usage/event-corrections/periods.ts';
import { type CorrectionRow, getCorrection, lockCorrection } from '../../usage/event-corrections/queries.ts';
import {
  listTakenUnsettled,
  settleTakenEvents,
  takeLateEvents,
} from '../../usage/event-corrections/taken-late-events.ts';
import { correctionView } from '../../usage/event-corrections/view.ts';
import { insertCorrection, updateProgress } from '../../usage/event-corrections/writes.ts';
import { keepGathered, takeGathered } from './gathered-late-events.ts';
import { listInPlace } from './issued-fees.ts';
import {
  findLookFrom,
  findStretch,
  type LateGroup,
  listLateGroups,
  listLateGroupsAmong,
  listLateGroupsOf,
  listLateOrganizations,
  listLookedAt,
  listSettledWithout,
  lockCursor,
  moveCursor,
  readPage,
  seenAfter,
} from './late-groups.ts';
import { insertPeriods } from './periods-to-settle.ts';
import { settlePeriods } from './settle-periods.ts';

/** Ids of events in one step, and events of an invoice that one step reads: some tenths of a second. */
const EVENTS_A_STEP = 5000;
/** Events of an organization that one step reads, however many came since the last look: some tenths of a second. */
const EVENTS_A_LOOK = 5000;
/** A metric without usage costs a statement, as much as some events. */
const LEAST_OF_A_METRIC = 100;
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
    await lookAtStretch(ctx, seen, null);
  },
  async nextDueAt({ db: sql, organizationId }, after) {
    const due = await listLateOrganizations(sql, { organizationId }, 1);
    return due.length > 0 ? after : null;
  },
});

/**
 * Step `look-for-late-events`: looks at the next events of an organization. It ends when another look has begun
 * meanwhile, which sees the same events.
 */
export async function lookForLateEvents(
  ctx: Context,
  { seen_id: seenId, after_id: afterId }: StepPayload<'look-for-late-events'>,
): Promise<void> {
  if ((await lockCursor(ctx)) === seenId) await lookAtStretch(ctx, seenId, afterId);
}

/**
 * Whether an event is late is decided when it is stored, so each is looked at once, late or not. The late ones are
 * gathered; the end of the look owes the settling of all, so that where it was cut does not matter.
 */
async function lookAtStretch(ctx: Context, seenId: string, afterId: string | null): Promise<void> {
  const now = newId();
  const from = await findLookFrom(ctx, seenId);
  if (from === undefined) return settleGatheredByLook(ctx, await moveCursor(ctx, now));
  const stretch = await findStretch(ctx, from, { afterId, limit: EVENTS_A_LOOK });
  await keepGathered(ctx, null, await listLateGroups(ctx, stretch, EVENTS_A_LOOK));
  const seen = await moveCursor(ctx, seenAfter({ seenId, afterId }, stretch, now));
  if (stretch.untilId === null) return settleGatheredByLook(ctx, seen);
  ctx.after({ step: 'look-for-late-events', payload: { seen_id: seen, after_id: stretch.untilId } });
}

type LateEvents = StepPayload<'settle-late-events'>;

const payloadOf = ({ external_subscription_id, window_from, policy, event_ids }: LateGroup): LateEvents => ({
  external_subscription_id,
  window_from: window_from.toString(),
  policy,
  event_ids,
});

/**
 * Step `settle-gathered-late-events`: goes on to owe the settling of what a look has gathered. That of the hourly look
 * ends when another look has begun meanwhile, which may gather more for the same windows and settles all at its end.
 */
export async function settleGathered(ctx: Context, look: StepPayload<'settle-gathered-late-events'>): Promise<void> {
  if ('invoice_id' in look) return settleGatheredFor(ctx, look.invoice_id);
  if ((await lockCursor(ctx)) === look.seen_id) await settleGatheredByLook(ctx, look.seen_id);
}

async function settleGatheredByLook(ctx: Context, seenId: string): Promise<void> {
  const { groups, isLast } = await takeGathered(ctx, null, EVENTS_A_STEP);
  for (const group of groups) ctx.after({ step: 'settle-late-events', payload: payloadOf(group) });
  if (!isLast) ctx.after({ step: 'settle-gathered-late-events', payload: { seen_id: seenId } });
}

async function settleGatheredFor(ctx: Context, invoiceId: InvoiceId): Promise<void> {
  const { groups, isLast } = await takeGathered(ctx, invoiceId, EVENTS_A_STEP);
  for (const group of groups)
    ctx.after({ step: 'settle-late-events', payload: { ...payloadOf(group), invoice_id: invoiceId } });
  if (!isLast) ctx.after({ step: 'settle-gathered-late-events', payload: { invoice_id: invoiceId } });
}

/**
 * Step `look-at-late-events`: looks once more at what came late for an invoice that was made in the place of another
 * one, or that waited for its taxes: until it was final, it was late for nothing. What corrections of late events have
 * settled without the invoice is settled by them with it. Looks at a page of its usage and leaves the rest to the next
 * step; what it gathers is settled at its end.
 *
 * Rules: event-corrections.md#late-events, event-corrections.md#regenerated-invoices.
 */
export async function lookAtLateEvents(
  ctx: Context,
  { invoice_id: invoiceId, seen }: StepPayload<'look-at-late-events'>,
): Promise<void> {
  const invoiceIds = await listInPlace(ctx, invoiceId);
  let left = EVENTS_A_STEP;
  for (const usage of await listLookedAt(ctx, invoiceId, seen ?? null)) {
    const { external_subscription_id, code } = usage;
    const isFirst = seen?.external_subscription_id === external_subscription_id && seen.code === code;
    const after = isFirst ? seen.timestamp : null;
    const goOn = (timestamp: string | null) => {
      const payload = { invoice_id: invoiceId, seen: { external_subscription_id, code, timestamp } };
      ctx.after({ step: 'look-at-late-events', payload });
    };
    if (left <= 0) return goOn(null);
    const page = await readPage(ctx, usage, { seen: after, afterId: invoiceIds[0]!, limit: left });
    if (page.ids.length > 0) await lookAtPage(ctx, invoiceId, invoiceIds, page.ids);
    if (page.events_count >= left) return goOn(page.until!.toString());
    left -= Math.max(page.events_count, LEAST_OF_A_METRIC);
  }
  await settleGatheredFor(ctx, invoiceId);
}

async function lookAtPage(
  ctx: Context,
  invoiceId: InvoiceId,
  invoiceIds: InvoiceId[],
  eventIds: readonly EventId[],
): Promise<void> {
  await keepGathered(ctx, invoiceId, await listLateGroupsOf(ctx, invoiceId, eventIds));
  for (const { correction_id, event_ids } of await listSettledWithout(ctx, { invoiceId, invoiceIds, eventIds }))
    ctx.after({
      step: 'reopen-late-correction',
      payload: { correction_id, invoice_id: invoiceId, event_ids },
    });
}

/**
 * Step `reopen-late-correction`: settles by a correction of late events an invoice too that was voided when it was
 * settled, and was made anew since. Rule: event-corrections.md#regenerated-invoices.
 */
export async function reopenLateCorrection(
  ctx: Context,
  { correction_id: id, invoice_id: invoiceId, event_ids: eventIds }: StepPayload<'reopen-late-correction'>,
): Promise<void> {
  const { external_subscription_id } = await getCorrection(ctx, id);
  await lockForCorrection(ctx, external_subscription_id);
  const correction = await lockCorrection(ctx, id);
  const concerned = await listConcernedOf(ctx, external_subscription_id, eventIds);
  await insertPeriods(
    ctx,
    id,
    concerned.filter(({ invoice_id }) => invoice_id === invoiceId),
  );
  if (correction.status === 'settled')
    await updateProgress(ctx, id, { ...correction, status: 'applied', finished_at: null });
  ctx.after({ step: 'settle-correction', payload: { correction_id: id } });
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
 * When their invoices are right already, there is none. For an invoice that was made anew it settles events again that
 * were taken in when nothing was to be settled. Rule: event-corrections.md#late-events.
 */
export async function settleLateEvents(ctx: Context, late: LateEvents): Promise<void> {
  const customers = await lockForCorrection(ctx, late.external_subscription_id);
  // Taken in even without a difference of their own, because a later correction builds on them.
  const fresh = await takeLateEvents(ctx, late.event_ids, ctx.now());
  const taken = late.invoice_id === undefined ? fresh : await listTakenUnsettled(ctx, late.event_ids);
  if (taken.length === 0) return;
  const concerned = await listConcernedOf(ctx, late.external_subscription_id, fresh.length > 0 ? fresh : taken);
  const invoiced = fresh.length > 0 ? concerned : concerned.filter(({ invoice_id }) => invoice_id === late.invoice_id);
  if (invoiced.length === 0) return;
  const nothing = new Error('nothing to settle');
  try {
    await nested(ctx, async (own) => {
      const externalCustomerId = customers.length === 1 ? customers[0]! : null;
      if (!(await settle(own, { ...late, event_ids: taken }, invoiced, externalCustomerId))) throw nothing;
    });
  } catch (error) {
    if (error !== nothing) throw error;
  }
}

/** Charges on issued invoices whose usage late events change. */
async function listConcernedOf(
  ctx: Context,
  externalSubscriptionId: ExternalSubscriptionId,
  eventIds: readonly EventId[],
): Promise<ConcernedCharge[]> {
  const moments = ctx.db`select distinct e.code, e.timestamp from ${eventsOfIds(ctx, eventIds)}`;
  const concerned = await listConcernedCharges(ctx, externalSubscriptionId, { moments, withRenewals: false });
  return concerned.filter(({ is_draft }) => !is_draft);
}

/** @returns whether there was anything to settle */
async function settle(
  ctx: Context,
  late: LateEvents,
  invoiced: readonly ConcernedCharge[],
  externalCustomerId: ExternalCustomerId | null,
): Promise<boolean> {
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
