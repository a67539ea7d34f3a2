import type { Context } from '../../../platform/context.ts';
import { nested } from '../../../platform/records/nested.ts';
import { Refusal } from '../../../platform/refusal.ts';
import type { StepPayload } from '../../../steps.ts';
import { retryInvoice } from '../../invoices/invoices/commands/retry.ts';
import { type InvoiceRunKind, RUN_STEP } from '../../invoices/invoices/commands/run-many.ts';
import { countInvoices, listInvoiceIds } from '../../invoices/invoices/queries.ts';
import { isUncomputable } from '../build-invoice/generation-error.ts';
import { finalizeInvoice } from '../finalize-invoice/finalize-invoice.ts';
import { lockRun, moveRun, type RunError } from './invoice-runs.ts';

/** How many invoices one step treats; its transaction holds their customers. */
const PAGE = 20;

const ACTIONS: Record<InvoiceRunKind, (ctx: Context, input: { svc_id: string }) => Promise<unknown>> = {
  invoices_finalize_all: finalizeInvoice,
  invoices_retry_all: retryInvoice,
};

/**
 * Step `run-invoices`: treats the next 20 invoices of a run, oldest first, and owes the next step. The first refusal
 * ends the run and names its invoice; earlier invoices stay done.
 *
 * Rules: other-routes.md#records, invoices.md#jobs.
 */
export async function runInvoices(ctx: Context, { run_id, after }: StepPayload<typeof RUN_STEP>): Promise<void> {
  const run = await lockRun(ctx, run_id);
  if (!run) return;
  const total = run.total ?? (await countInvoices(ctx, run.input));
  const ids = await listInvoiceIds(ctx, run.input, { after: after ?? null, limit: PAGE });
  let done = run.done;
  let error: RunError | null = null;
  for (const id of ids) {
    error = await runOne(ctx, run.kind, id);
    if (error) break;
    done += 1;
  }
  const isOver = ids.length < PAGE;
  await moveRun(ctx, run_id, { progress: { done, total, isOver, error }, now: ctx.now() });
  if (!isOver && !error) ctx.after({ step: RUN_STEP, payload: { run_id, after: ids.at(-1)! } });
}

/**
 * Treats one invoice; on a refusal everything it wrote is undone. An invoice that was treated elsewhere meanwhile
 * counts as done.
 */
async function runOne(ctx: Context, kind: InvoiceRunKind, id: string): Promise<RunError | null> {
  try {
    await nested(ctx, (own) => ACTIONS[kind](own, { svc_id: id }));
    return null;
  } catch (error) {
    if (!(error instanceof Refusal) && !isUncomputable(error)) throw error;
    if (error instanceof Refusal && error.status === 404) return null;
    const code = error instanceof Refusal ? String(error.body.code) : 'invoice_generation_error';
    return { code, message: error.message, svc_resource_id: id };
  }
}
