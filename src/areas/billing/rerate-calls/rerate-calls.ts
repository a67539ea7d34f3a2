import type { Context } from '../../../platform/context.ts';
import type { CorrectionId, ExternalSubscriptionId } from '../../../platform/ids.ts';
import type { StepPayload } from '../../../steps.ts';
import { getBookVersion } from '../../catalog/price-book/queries.ts';
import { lockForCorrection } from '../../usage/event-corrections/apply-correction.ts';
import { policyOf } from '../../usage/event-corrections/policy.ts';
import {
  type CallToRate,
  findNextSubscription,
  listCalls,
  lockFirstRun,
  moveRun,
  type ReratingRun,
  takeCalls,
} from '../../usage/price-reratings/queries.ts';
import type { RerateResult } from '../../usage/price-reratings/schema.ts';
import { amendCalls, billInAdvance } from '../heal-prices/amend-calls.ts';
import { attempt } from '../settle-usage/attempt-or-undo.ts';
import { addPage, NO_CALLS, type RatedPage, ratePage } from './rated-page.ts';

/** How many calls one transaction rates. */
const PAGE = 500;

/**
 * Step `rerate-calls`: lists the calls of a run, then rates the next 500 of one subscription by the book as it is now,
 * at their own time, and owes the next step. What became another call by it is amended as by a correction; a dry run
 * only counts. A page that cannot be settled ends the run as `failed`, with the pages before it done. Of an
 * organization one run is under way; its end owes the step of the next one.
 *
 * Rule: price-book.md#rating-again.
 */
export async function rerateCalls(ctx: Context, { run_id: id }: StepPayload<'rerate-calls'>): Promise<void> {
  const run = await lockFirstRun(ctx);
  if (run?.id !== id) return; // The end of the one before it owes its step.
  const total = run.total ?? (await listCalls(ctx, run));
  const before = { done: run.done, total, result: run.result ?? NO_CALLS, isOver: false, error: null };
  const subscription = await findNextSubscription(ctx, id);
  if (subscription === undefined) {
    await moveRun(ctx, id, { progress: { ...before, isOver: true }, now: ctx.now() });
    return goOn(ctx);
  }
  const outcome = await attempt(ctx, id as CorrectionId, (on) => ratePageOf(on, run, subscription));
  if ('failure' in outcome) {
    const { error } = outcome.failure;
    await moveRun(ctx, id, { progress: { ...before, isOver: true, error }, now: ctx.now() });
    return goOn(ctx);
  }
  const { taken, result } = outcome.done;
  await moveRun(ctx, id, { progress: { ...before, done: run.done + taken, result }, now: ctx.now() });
  ctx.after({ step: 'rerate-calls', payload: { run_id: id } });
}

/** Owes the step of the run that is next, if there is one. */
async function goOn(ctx: Context): Promise<void> {
  const next = await lockFirstRun(ctx);
  if (next) ctx.after({ step: 'rerate-calls', payload: { run_id: next.id } });
}

async function ratePageOf(
  ctx: Context,
  run: ReratingRun,
  subscription: ExternalSubscriptionId,
): Promise<{ taken: number; result: RerateResult }> {
  await lockForCorrection(ctx, subscription);
  const { taken, calls } = await takeCalls(ctx, { runId: run.id, subscription, limit: PAGE });
  const page = await ratePage(ctx, await getBookVersion(ctx), calls);
  if (!run.input.dry_run && page.amendments.length > 0) await amendPage(ctx, run, { subscription, calls, page });
  return { taken, result: addPage(run.result ?? NO_CALLS, page.rated) };
}

async function amendPage(
  ctx: Context,
  { id, input }: ReratingRun,
  {
    subscription,
    calls,
    page,
  }: { subscription: ExternalSubscriptionId; calls: readonly CallToRate[]; page: RatedPage },
): Promise<void> {
  const { amendments } = page;
  const ids = new Set(amendments.map((amendment) => amendment.id));
  const changed = calls.filter((call) => ids.has(call.id));
  await amendCalls(ctx, changed, amendments, {
    kind: 'price_rerating',
    reason: input.reason,
    subscription,
    policy: await policyOf(ctx, subscription, input.policy),
    input: { svc_run_id: id },
    apiKeyId: input.api_key_id,
  });
  const hadNone = new Set(changed.flatMap((call) => (call.precise_total_amount_cents === null ? [call.id] : [])));
  const toBill = amendments.filter((each) => each.precise_total_amount_cents !== null && hadNone.has(each.id));
  if (toBill.length > 0)
    await billInAdvance(
      ctx,
      toBill.map((each) => each.id),
    );
}
