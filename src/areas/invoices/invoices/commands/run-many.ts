import { setTimeout as wait } from 'node:timers/promises';
import type { Context } from '../../../../platform/context.ts';
import { newId } from '../../../../platform/ids.ts';
import { checkBillingEntityCodes } from '../../../customers/billing-entities/queries.ts';
import { findRun, getRun, insertRun } from '../../../usage/unmatched-events/queries.ts';
import { runView } from '../../../usage/unmatched-events/view.ts';
import type { InvoiceFilters } from '../queries.ts';
import type { InvoicesQuery } from '../schema.ts';

/** Owed work: the next invoices of a run. */
export const RUN_STEP = 'run-invoices';

/** What a run does to each invoice that passes its filters. */
export type InvoiceRunKind = 'invoices_finalize_all' | 'invoices_retry_all';

/** How long an answer waits for the run that it shows. */
const PATIENCE_MS = 5000;
const LOOK_AGAIN_MS = 50;

/**
 * Finalizes all drafts that pass the filters, as a run that stops at the first error. Rules: other-routes.md#records,
 * invoices.md#jobs.
 */
export const finalizeAllInvoices = (ctx: Context, { query }: { query: InvoicesQuery }) =>
  startRun(ctx, 'invoices_finalize_all', query);

/** Retries all failed invoices that pass the filters, as a run that stops at the first error. */
export const retryAllInvoices = (ctx: Context, { query }: { query: InvoicesQuery }) =>
  startRun(ctx, 'invoices_retry_all', query);

async function startRun(ctx: Context, kind: InvoiceRunKind, query: InvoicesQuery) {
  const { page: _page, per_page: _perPage, status, payment_status, customer_external_id, ...rest } = query;
  const input: InvoiceFilters = {
    ...rest,
    external_customer_id: query.external_customer_id ?? customer_external_id,
    payment_statuses: query.payment_statuses ?? payment_status,
    statuses: [kind === 'invoices_finalize_all' ? 'draft' : 'failed'],
  };
  await checkBillingEntityCodes(ctx, query.billing_entity_codes ?? []);
  const id = newId();
  await insertRun(ctx, { id, kind, input, created_at: ctx.now() });
  ctx.after({ step: RUN_STEP, payload: { run_id: id } });
  return { run: runView(await getRun(ctx, id)) };
}

const KINDS: readonly InvoiceRunKind[] = ['invoices_finalize_all', 'invoices_retry_all'];

/** A run over many invoices in its current state. @throws Refusal 404 run */
export async function showRun(ctx: Context, { run_id: id }: { run_id: string }) {
  return { run: runView(await findRun(ctx, KINDS, id)) };
}

/** The run a moment later: most are finished by then. */
export async function settleRun(ctx: Context, { run }: { run: { svc_id: string } }) {
  for (let waited = 0; ; waited += LOOK_AGAIN_MS) {
    const row = await getRun(ctx, run.svc_id);
    if (row.finished_at !== null || waited >= PATIENCE_MS) return { run: runView(row) };
    await wait(LOOK_AGAIN_MS);
  }
}
