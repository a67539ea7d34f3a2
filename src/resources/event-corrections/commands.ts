import { Temporal } from 'temporal-polyfill';
import type { Context } from '../../platform/context.ts';
import { newId } from '../../platform/ids.ts';
import { refuse } from '../../platform/refusal.ts';
import { type AmendmentWarning, amendedPayload } from './amendment.ts';
import { announceSettled, applyCorrection, lockForCorrection } from './apply.ts';
import { countUpTo, type EventRange, type EventToCorrect, eventsOfRange, lockEvent } from './events.ts';
import { type Effect, effectOf, policyOf } from './policy.ts';
import { type CorrectionRow, listAdjustments, lockCorrection } from './queries.ts';
import type { CorrectionCreate } from './schema.ts';
import { correctionView } from './view.ts';
import { insertCorrection, insertRangeEvents, insertRecorded, insertWarning, updateProgress } from './writes.ts';

/** Events of one correction at most (beyond 4.1). */
const MOST_EVENTS = 1_000_000;
const PREVIEW = 'correction_preview';

/**
 * Corrects stored events: one at once, a range in pages by step `retract-range`. Usage is right when a single event's
 * answer arrives. A dry run changes nothing and tells what would have changed.
 *
 * @throws Refusal 404 event
 * @throws Refusal 403 write_action_not_allowed_for_invoice
 * @throws Refusal 422 by field; base, policy: unsupported_value where issued invoices or fees would have to be settled
 * Rules: beyond 4.1 to 4.5.
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
    total: 1,
    done: 0,
    draft_invoices_count: 0,
    invoices_count: 0,
    error: null,
    created_at: ctx.now(),
    started_at: null,
    finished_at: body.dry_run ? ctx.now() : null,
  };
  const made =
    body.kind === 'retract_range' ? await correctRange(ctx, asked, body) : await correctOne(ctx, asked, body);
  const { rows } = await listAdjustments(ctx.db, ctx.organizationId, made.id, { page: 1, per_page: 100 });
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

/**
 * Lets a failed correction go on where it stopped.
 *
 * @throws Refusal 404 event_correction
 * @throws Refusal 405 invalid_status
 */
export async function retryCorrection(ctx: Context, { svc_id }: { svc_id: string }) {
  const correction = await lockCorrection(ctx.db, ctx.organizationId, svc_id);
  if (correction.status !== 'failed') throw refuse.notAllowed('invalid_status');
  const again: CorrectionRow = { ...correction, status: 'pending', error: null, finished_at: null };
  await updateProgress(ctx.db, ctx.organizationId, again.id, again);
  ctx.after({ job: 'retract-range', payload: { correction_id: again.id } });
  return { correction: correctionView(again) };
}

async function correctOne(ctx: Context, asked: CorrectionRow, body: CorrectionCreate): Promise<CorrectionRow> {
  const event = await lockEvent(ctx.db, ctx.organizationId, asked.external_subscription_id, asked.transaction_id!);
  if (body.code && body.code !== event.code) throw refuse.invalid({ code: ['value_must_be_blank'] });
  const { payload, warning } =
    asked.kind === 'amend' ? await amendedPayload(ctx, event, body) : { payload: null, warning: null };
  const effect = await applyOne(ctx, asked, event, payload);
  const done: CorrectionRow = asked.dry_run
    ? asked
    : { ...asked, status: 'settled', done: 1, started_at: ctx.now(), finished_at: ctx.now() };
  return store(ctx, done, effect, warning);
}

/** A dry run is the same, taken back. */
async function applyOne(
  ctx: Context,
  asked: CorrectionRow,
  event: EventToCorrect,
  payload: Parameters<typeof applyCorrection>[3],
): Promise<Effect> {
  if (!asked.dry_run) return applyCorrection(ctx, asked, [event], payload);
  await ctx.db.unsafe(`savepoint ${PREVIEW}`);
  const effect = await applyCorrection({ ...ctx, after: () => {} }, asked, [event], payload);
  await ctx.db.unsafe(`rollback to savepoint ${PREVIEW}`);
  return effect;
}

/** Finds the events of a range, and leaves their retraction to the step. */
async function correctRange(ctx: Context, asked: CorrectionRow, body: CorrectionCreate): Promise<CorrectionRow> {
  const { db, organizationId } = ctx;
  const source = eventsOfRange(db, organizationId, rangeOf(body));
  const total = await countUpTo(db, source, MOST_EVENTS + 1);
  if (total > MOST_EVENTS) throw refuse.invalid({ base: ['value_is_out_of_range'] });
  if (typeof body.expected_count === 'number' && body.expected_count !== total)
    throw refuse.invalid({ expected_count: ['value_is_invalid'] });
  const moments = db`select distinct e.code, e.timestamp from ${source}`;
  const effect = await effectOf(ctx, asked.external_subscription_id, moments, asked.policy);
  const made = await store(ctx, { ...asked, total }, effect, null);
  if (made.dry_run) return made;
  await insertRangeEvents(db, organizationId, made.id, source);
  ctx.after({ job: 'retract-range', payload: { correction_id: made.id } });
  return made;
}

async function store(
  ctx: Context,
  correction: CorrectionRow,
  effect: Effect,
  warning: AmendmentWarning | null,
): Promise<CorrectionRow> {
  const row: CorrectionRow = {
    ...correction,
    draft_invoices_count: effect.draftIds.length,
    invoices_count: new Set(effect.invoiced.map(({ invoice_id }) => invoice_id)).size,
  };
  await insertCorrection(ctx.db, ctx.organizationId, row);
  if (effect.invoiced.length > 0) await insertRecorded(ctx.db, ctx.organizationId, row.id, effect.invoiced, ctx.now());
  if (warning !== null) await insertWarning(ctx.db, ctx.organizationId, row.id, warning, ctx.now());
  return row;
}

/** A range as it is looked for; both ends are inclusive, at the milliseconds that events show. */
function rangeOf(body: CorrectionCreate): EventRange {
  const last = Temporal.Instant.from(body.timestamp_to!);
  return {
    external_subscription_id: body.external_subscription_id,
    code: body.code ?? null,
    from: body.timestamp_from!,
    to: last.round({ smallestUnit: 'millisecond', roundingMode: 'trunc' }).add({ milliseconds: 1 }).toString(),
    properties: body.properties ?? null,
  };
}

const INPUTS = [
  'code',
  'timestamp',
  'precise_total_amount_cents',
  'timestamp_from',
  'timestamp_to',
  'expected_count',
] as const;

/** What was asked for beside the columns, as it is shown. */
const inputOf = (body: CorrectionCreate): Record<string, unknown> => ({
  ...Object.fromEntries(INPUTS.flatMap((key) => (body[key] === undefined ? [] : [[key, body[key]]]))),
  ...(body.properties === undefined ? {} : { properties: JSON.parse(body.properties) }),
});
