import type { Context } from '../../../platform/context.ts';
import type { EventId, ExternalCustomerId, ExternalSubscriptionId, InvoiceId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { nested } from '../../../platform/records/nested.ts';
import { Refusal } from '../../../platform/refusal.ts';
import type { StepPayload } from '../../../steps.ts';
import { announceSettled } from '../../usage/event-corrections/announce.ts';
import { lockForCorrection } from '../../usage/event-corrections/apply-correction.ts';
import { eventsOfIds, lockCorrections } from '../../usage/event-corrections/lock-events.ts';
import { type ConcernedCharge, listConcernedCharges } from '../../usage/event-corrections/periods.ts';
import { type CorrectionRow, getCorrection, lockCorrection } from '../../usage/event-corrections/queries.ts';
import {
  listTakenUnsettled,
  settleTakenEvents,
  takeLateEvents,
} from '../../usage/event-corrections/taken-late-events.ts';
import { correctionView } from '../../usage/event-corrections/view.ts';
import { insertCorrection, updateProgress } from '../../usage/event-corrections/writes.ts';
import { listInPlace } from './issued-fees.ts';
import { keepPricesBefore } from './keep-prices-before-change.ts';
import { type LateGroup, listLateGroupsAmong, listSettledWithoutAny } from './late-groups.ts';
import { insertPeriods } from './periods-to-settle.ts';
import { settlePeriods } from './settle-periods.ts';

const REASON = 'Late usage';

type LateEvents = StepPayload<'settle-late-events'>;

/** The payload of the step that settles a group. */
export const payloadOf = ({ external_subscription_id, window_from, policy, event_ids }: LateGroup): LateEvents => ({
  external_subscription_id,
  window_from: window_from.toString(),
  policy,
  event_ids,
});

/**
 * In the transaction that regenerates an invoice: corrections of late events that were settled while it was voided
 * settle it too, also when it waits for its taxes, and have their turns on it before any later correction.
 *
 * Rule: event-corrections.md#regenerated-invoices.
 */
export async function reopenLateCorrections(ctx: Context, invoiceId: InvoiceId): Promise<void> {
  const invoiceIds = await listInPlace(ctx, invoiceId);
  const found = await listSettledWithoutAny(ctx, { invoiceId, invoiceIds });
  // Billing holds the customer already, as corrections do before they take this lock.
  await lockCorrections(ctx, [...new Set(found.map(({ external_subscription_id }) => external_subscription_id))]);
  for (const { correction_id: id, event_ids: eventIds } of found)
    await reopen(ctx, await lockCorrection(ctx, id), { invoiceId, eventIds });
}

/**
 * Step `reopen-late-correction`: settles by a correction of late events an invoice too that was voided when it was
 * settled, and was made anew since by a release that did not reopen the correction then. Rule:
 * event-corrections.md#regenerated-invoices.
 */
export async function reopenLateCorrection(
  ctx: Context,
  { correction_id: id, invoice_id: invoiceId, event_ids: eventIds }: StepPayload<'reopen-late-correction'>,
): Promise<void> {
  const { external_subscription_id } = await getCorrection(ctx, id);
  await lockForCorrection(ctx, external_subscription_id);
  await reopen(ctx, await lockCorrection(ctx, id), { invoiceId, eventIds });
}

async function reopen(
  ctx: Context,
  correction: CorrectionRow,
  { invoiceId, eventIds }: { invoiceId: InvoiceId; eventIds: readonly EventId[] },
): Promise<void> {
  const { id } = correction;
  const concerned = await listConcernedOf(ctx, correction.external_subscription_id, eventIds);
  await insertPeriods(
    ctx,
    id,
    concerned.filter(({ invoice_id }) => invoice_id === invoiceId),
  );
  // One that is not settled yet has a step of its own already, or gets it when it is retried.
  if (correction.status !== 'settled') return;
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
  const codes = await listCodes(ctx, late.event_ids);
  await keepPricesBefore(ctx, { id: null, external_subscription_id: late.external_subscription_id }, { codes });
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

async function listCodes(ctx: Context, eventIds: readonly EventId[]): Promise<string[]> {
  const rows = await ctx.db<{ code: string }[]>`select distinct e.code from ${eventsOfIds(ctx, eventIds)}`;
  return rows.map(({ code }) => code);
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
