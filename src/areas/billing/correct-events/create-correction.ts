import type { Context } from '../../../platform/context.ts';
import { newId } from '../../../platform/ids.ts';
import { dryRun } from '../../../platform/records/nested.ts';
import { refuse } from '../../../platform/refusal.ts';
import { type AmendmentWarning, amendedPayload } from '../../usage/event-corrections/amendment.ts';
import { announceSettled } from '../../usage/event-corrections/announce.ts';
import { applyCorrection, lockForCorrection } from '../../usage/event-corrections/apply-correction.ts';
import {
  countUpTo,
  type EventAmendment,
  type EventToCorrect,
  eventsOfRange,
  lockEvent,
} from '../../usage/event-corrections/lock-events.ts';
import { type Effect, effectOf, policyOf } from '../../usage/event-corrections/policy.ts';
import { type CorrectionRow, listAdjustments } from '../../usage/event-corrections/queries.ts';
import type { CorrectionCreate } from '../../usage/event-corrections/schema.ts';
import { correctionView } from '../../usage/event-corrections/view.ts';
import {
  countInvoices,
  insertCorrection,
  insertRangeEvents,
  insertWarning,
  updateProgress,
} from '../../usage/event-corrections/writes.ts';
import { demandOpenEvent, demandOpenTime } from '../../usage/event-retention/closed-time.ts';
import { markChains } from '../settle-usage/in-advance/mark-chains.ts';
import { keepPricesBefore } from '../settle-usage/keep-prices-before-change.ts';
import { insertPeriods } from '../settle-usage/periods-to-settle.ts';
import { settleBeforeCorrection } from '../settle-usage/settle-late-events.ts';
import { settlePeriods } from '../settle-usage/settle-periods.ts';
import { insertAdjustments, type NewAdjustment } from '../settle-usage/stored-adjustments.ts';
import { inputOf, rangeOf } from './range-input.ts';
import { retractEventsAtOnce } from './retract-at-once.ts';

/** How many events one correction may concern (event-corrections.md#routes). */
const MOST_EVENTS = 1_000_000;

/**
 * Corrects stored events: one at once, a range in pages by step `retract-range`. When the answer for a single event
 * arrives, usage is right, and so are the books of final invoices. A dry run changes nothing and reports what would
 * have changed.
 *
 * @throws Refusal 404 event
 * @throws Refusal 403 write_action_not_allowed_for_invoice
 * @throws Refusal 422 by field; base: value_is_out_of_range, in a time whose raw events may be removed
 * Rules: event-corrections.md#routes, event-corrections.md#policy, event-corrections.md#effect,
 * event-corrections.md#difference, event-corrections.md#order-of-work.
 */
export async function createCorrection(ctx: Context, { body }: { body: CorrectionCreate }) {
  const customers = await lockForCorrection(ctx, body.external_subscription_id);
  const policy = await policyOf(ctx, body.external_subscription_id, body.policy);
  const asked: CorrectionRow = {
    id: newId(),
    kind: body.kind as CorrectionRow['kind'],
    status: body.dry_run ? 'previewed' : 'pending',
    policy,
    credit_note_part: body.credit_note_part ?? 'credit',
    reason: body.reason,
    dry_run: body.dry_run ?? false,
    external_subscription_id: body.external_subscription_id,
    transaction_id: body.transaction_id ?? null,
    input: inputOf(body),
    api_key_id: ctx.actor.apiKeyId,
    ...notBegun(ctx),
    total: 1,
    finished_at: body.dry_run ? ctx.now() : null,
  };
  const made =
    body.kind === 'retract_range' ? await correctRange(ctx, asked, body) : await correctOne(ctx, asked, body);
  const { rows } = await listAdjustments(ctx, made.id, { page: 1, per_page: 100 });
  if (!made.dry_run)
    ctx.record({
      activity: {
        type: 'event_correction.created',
        resourceType: 'EventCorrection',
        resourceId: made.id,
        object: correctionView(made),
        externalCustomerId: customers.length === 1 ? customers[0]! : null,
        externalSubscriptionId: made.external_subscription_id,
      },
    });
  if (made.status === 'settled') announceSettled(ctx, made);
  return { correction: correctionView(made, rows) };
}

/** What a correction has done before its work begins: nothing. */
export const notBegun = (ctx: Context) => ({
  done: 0,
  draft_invoices_count: 0,
  invoices_count: 0,
  error: null,
  created_at: ctx.now(),
  started_at: null,
  finished_at: null,
});

async function correctOne(ctx: Context, asked: CorrectionRow, body: CorrectionCreate): Promise<CorrectionRow> {
  const { external_subscription_id: externalId } = asked;
  await demandOpenEvent(ctx, externalId, asked.transaction_id!);
  const event = await lockEvent(ctx, externalId, asked.transaction_id!);
  if (body.code && body.code !== event.code) throw refuse.invalid({ code: ['value_must_be_blank'] });
  const { payload, warning } =
    asked.kind === 'amend' ? await amendedPayload(ctx, event, body) : { payload: null, warning: null };
  if (payload !== null) await demandOpenTime(ctx, externalId, { from: payload.timestamp, code: event.code });
  const amendments = payload && [{ id: event.id, ...payload }];
  if (asked.dry_run) {
    const { effect, adjustments } = await dryRun(ctx, (on) => correctEvents(on, asked, [event], amendments, warning));
    return storePreview(ctx, asked, { effect, warning, adjustments });
  }
  return (await correctEvents(ctx, asked, [event], amendments, warning)).correction;
}

interface Corrected {
  correction: CorrectionRow;
  effect: Effect;
  adjustments: NewAdjustment[];
}

/** Changes events of one subscription, or retracts them, and then settles the invoices concerned. */
export async function correctEvents(
  ctx: Context,
  asked: CorrectionRow,
  events: readonly Pick<EventToCorrect, 'id' | 'code'>[],
  amendments: readonly EventAmendment[] | null,
  warning: AmendmentWarning | null,
): Promise<Corrected> {
  await settleBeforeCorrection(
    ctx,
    events.map(({ id }) => id),
  );
  await keepPricesBefore(ctx, asked, { codes: events.map(({ code }) => code) });
  const effect = await applyCorrection(ctx, asked, { events, amendments });
  const applied: CorrectionRow = { ...asked, status: 'applied', done: events.length, started_at: ctx.now() };
  const stored = await store(ctx, applied, effect, warning);
  await markChains(
    ctx,
    stored,
    events.map(({ id }) => id),
  );
  const { isSettled, adjustments } = await settlePeriods(ctx, stored);
  const invoices_count = await countInvoices(ctx, stored.id);
  if (!isSettled) return { correction: { ...stored, invoices_count }, effect, adjustments };
  const correction: CorrectionRow = { ...stored, invoices_count, status: 'settled', finished_at: ctx.now() };
  await updateProgress(ctx, correction.id, correction);
  return { correction, effect, adjustments };
}

/** Finds the events of a range, and leaves their retraction to the step. */
async function correctRange(ctx: Context, asked: CorrectionRow, body: CorrectionCreate): Promise<CorrectionRow> {
  const { db } = ctx;
  const range = rangeOf(body);
  await demandOpenTime(ctx, range.external_subscription_id, range);
  const source = eventsOfRange(ctx, range);
  const total = await countUpTo(db, source, MOST_EVENTS + 1);
  if (total > MOST_EVENTS) throw refuse.invalid({ base: ['value_is_out_of_range'] });
  if (typeof body.expected_count === 'number' && body.expected_count !== total)
    throw refuse.invalid({ expected_count: ['value_is_invalid'] });
  const moments = db`select distinct e.code, e.timestamp from ${source}`;
  const effect = await effectOf(ctx, asked.external_subscription_id, moments);
  if (asked.dry_run) {
    const preview = await dryRun(ctx, (on) =>
      retractEventsAtOnce(on, asked, { source, total, correct: correctEvents }),
    );
    return storePreview(ctx, { ...asked, total }, { effect, warning: null, adjustments: preview?.adjustments ?? [] });
  }
  const made = await store(ctx, { ...asked, total }, effect, null, []);
  await insertRangeEvents(ctx, made.id, source);
  ctx.after({ step: 'retract-range', payload: { correction_id: made.id } });
  return made;
}

async function store(
  ctx: Context,
  correction: CorrectionRow,
  effect: Effect,
  warning: AmendmentWarning | null,
  periods = effect.invoiced,
): Promise<CorrectionRow> {
  const row: CorrectionRow = {
    ...correction,
    draft_invoices_count: effect.draftIds.length,
    invoices_count: invoicesOf(effect, []),
  };
  await insertCorrection(ctx, row);
  await insertPeriods(ctx, row.id, periods);
  if (warning !== null) await insertWarning(ctx, row.id, { warning, now: ctx.now() });
  return row;
}

/** What a dry run found: its documents were rolled back and are not named, and nothing waits to be billed. */
async function storePreview(
  ctx: Context,
  asked: CorrectionRow,
  {
    effect,
    warning,
    adjustments,
  }: { effect: Effect; warning: AmendmentWarning | null; adjustments: readonly NewAdjustment[] },
): Promise<CorrectionRow> {
  const row = await store(ctx, asked, effect, warning, []);
  const invoices_count = invoicesOf(effect, adjustments);
  const shown = adjustments.map((each) => ({
    ...each,
    settled_amount_cents: 0,
    billed_amount_cents: 0,
    total_units: null,
    new_fee_id: null,
    credit_note_id: null,
  }));
  await insertAdjustments(ctx, row.id, { adjustments: shown, now: ctx.now() });
  await countInvoices(ctx, row.id);
  return { ...row, invoices_count };
}

const invoicesOf = ({ invoiced }: Effect, adjustments: readonly NewAdjustment[]): number =>
  new Set([...invoiced, ...adjustments].flatMap(({ invoice_id }) => invoice_id ?? [])).size;
