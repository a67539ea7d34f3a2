import { setTimeout as wait } from 'node:timers/promises';
import { Temporal } from 'temporal-polyfill';
import type { Context } from '../../../platform/context.ts';
import { newId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { OUT_OF_RANGE } from '../../../platform/schema/fields.ts';
import { countUpTo } from '../event-corrections/lock-events.ts';
import { demandWrite } from '../event-corrections/policy.ts';
import { findRun, getRun, insertRun } from '../unmatched-events/queries.ts';
import { runView } from '../unmatched-events/view.ts';
import { callsToRate, RERATING, type ReratingInput } from './queries.ts';
import type { RerateCreate } from './schema.ts';

/** How many calls one run may concern. */
const MOST_CALLS = 1_000_000;
/** How long an answer waits for the run that it shows. */
const PATIENCE_MS = 5000;
const LOOK_AGAIN_MS = 50;

/**
 * POST /price_book/rerate: rates calls of a time again by the book as it is then, as a run.
 *
 * @throws Refusal 403, without the permission to correct events or, unless the policy is `ignore`, to write invoices
 * @throws Refusal 422 to; base: value_is_out_of_range, beyond a million calls
 * Rule: price-book.md#rating-again.
 */
export async function rerateCalls(ctx: Context, { body }: { body: RerateCreate }) {
  await demandWrite(ctx, 'event_correction');
  if (body.policy !== 'ignore') await demandWrite(ctx, 'invoice');
  if (Temporal.Instant.compare(body.from, body.to) >= 0) throw refuse.invalid({ to: [OUT_OF_RANGE] });
  const input: ReratingInput = {
    from: body.from,
    to: body.to,
    provider: body.provider || null,
    model: body.model || null,
    external_subscription_id: (body.external_subscription_id || null) as ReratingInput['external_subscription_id'],
    dry_run: body.dry_run ?? false,
    policy: body.policy ?? null,
    reason: body.reason,
    api_key_id: ctx.actor.apiKeyId,
  };
  if ((await countUpTo(ctx.db, callsToRate(ctx, input), MOST_CALLS + 1)) > MOST_CALLS)
    throw refuse.invalid({ base: [OUT_OF_RANGE] });
  const id = newId();
  await insertRun(ctx, { id, kind: RERATING, input, created_at: ctx.now() });
  ctx.after({ step: 'rerate-calls', payload: { run_id: id } });
  return { rerate: runView(await getRun(ctx, id)) };
}

/** A run of rating in its current state. @throws Refusal 404 run */
export const showRerating = async (ctx: Context, { rerate_id: id }: { rerate_id: string }) => ({
  rerate: runView(await findRun(ctx, [RERATING], id)),
});

/** The run a moment later: most are finished by then. */
export async function settleRerating(ctx: Context, { rerate }: { rerate: { svc_id: string } }) {
  for (let waited = 0; ; waited += LOOK_AGAIN_MS) {
    const run = await getRun(ctx, rerate.svc_id);
    if (run.finished_at !== null || waited >= PATIENCE_MS) return { rerate: runView(run) };
    await wait(LOOK_AGAIN_MS);
  }
}
