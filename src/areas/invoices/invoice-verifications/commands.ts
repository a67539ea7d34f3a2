import type { Context } from '../../../platform/context.ts';
import type { InvoiceId } from '../../../platform/ids.ts';
import { isUuid, newId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { getRun, insertRun, type RunRow } from '../../usage/unmatched-events/queries.ts';
import { runView } from '../../usage/unmatched-events/view.ts';
import { getVisibleInvoice, readInvoice } from '../invoices/queries.ts';
import {
  countOnRun,
  findVerification,
  findVerificationRun,
  finishRun,
  insertVerification,
  lockVerificationRun,
  sizeOfInvoice,
} from './queries.ts';
import type { VerificationCreate, VerificationLevel } from './schema.ts';
import { verify } from './verify-invoice.ts';

/**
 * How many fees an invoice has at most whose events are counted again during the request. Rule:
 * invoice-verification.md#route.
 */
const MOST_FEES_AT_ONCE = 500;
/** How many events are counted during the request, about 20 µs each, well within the time limit of a request. */
const MOST_EVENTS_AT_ONCE = 100_000;

/** Owed work: a verification that takes long. */
const VERIFY_STEP = 'verify-invoice';
const VERIFICATION_RUN = 'invoice_verification';

interface VerificationRun {
  invoice_id: InvoiceId;
  level: VerificationLevel;
}

/**
 * Computes an issued invoice again: every fee and the totals from what was stored with them and, at level `events`, the
 * usage from the raw events as they were then. Nothing but the result is written. The events of more than 500 fees, or
 * more than 100 000 events, are counted by a run, whose id finds the result. At level `inputs`, which is always
 * answered at once, what arrived after such an invoice stays unknown.
 *
 * @throws Refusal 404 invoice; 405 invalid_status, unless it is finalized or voided
 * Rule: invoice-verification.md#route.
 */
export async function verifyInvoice(ctx: Context, { svc_id, body }: { svc_id: string; body?: VerificationCreate }) {
  const invoice = await getVisibleInvoice(ctx, svc_id);
  if (invoice.status !== 'finalized' && invoice.status !== 'voided') throw refuse.notAllowed('invalid_status');
  const level = body?.level ?? 'inputs';
  const { fees, events } = await sizeOfInvoice(ctx, invoice.id);
  const isLarge = fees > MOST_FEES_AT_ONCE || events === null || events > MOST_EVENTS_AT_ONCE;
  if (isLarge && level === 'events')
    return { verification: await verifyLater(ctx, { invoice_id: invoice.id, level }, fees) };
  const verification = await verify(ctx, invoice, { level, isLarge });
  await insertVerification(ctx, verification, ctx.now());
  return { verification };
}

async function verifyLater(ctx: Context, input: VerificationRun, fees: number) {
  const id = newId();
  await insertRun(ctx, { id, kind: VERIFICATION_RUN, input, created_at: ctx.now() });
  await countOnRun(ctx, id, fees);
  ctx.after({ step: VERIFY_STEP, payload: { run_id: id } });
  return runningView(await getRun(ctx, id), input);
}

/** Step `verify-invoice`: makes the result of a run, under the run's id; safe to run twice. */
export async function verifyInvoiceStep(ctx: Context, { run_id: id }: { run_id: string }): Promise<void> {
  const run = await lockVerificationRun(ctx, id);
  if (!run) return;
  const invoice = await readInvoice(ctx, run.invoice_id);
  const verification = { ...(await verify(ctx, invoice, { level: run.level, isLarge: true })), svc_id: id };
  await insertVerification(ctx, verification, ctx.now());
  await finishRun(ctx, id, ctx.now());
}

const runningView = (row: RunRow, { invoice_id, level }: VerificationRun) => {
  const { result: _result, ...run } = runView(row);
  return { ...run, svc_invoice_id: invoice_id, level };
};

/** @throws Refusal 404 verification */
export async function showVerification(ctx: Context, { svc_id }: { svc_id: string }) {
  if (!isUuid(svc_id)) throw refuse.notFound('verification');
  // The run is read first: if it is over, its result exists.
  const input = await findVerificationRun(ctx, svc_id);
  const run = input && runningView(await getRun(ctx, svc_id), input);
  if (run !== undefined && (run.finished_at === null || run.status === 'failed')) return { verification: run };
  const verification = await findVerification(ctx, svc_id);
  if (verification === undefined) throw refuse.notFound('verification');
  return { verification: { ...run, ...verification } };
}
