import { setTimeout as wait } from 'node:timers/promises';
import type { Context } from '../../../platform/context.ts';
import { newId } from '../../../platform/ids.ts';
import { findRun, getRun, insertRun } from './queries.ts';
import type { HealCreate } from './schema.ts';
import { runView } from './view.ts';

/** How long an answer waits for the run that it shows. */
const PATIENCE_MS = 5000;
const LOOK_AGAIN_MS = 50;

/** POST /events/unmatched/heal: matches open events again, as a run. Rule: event-verdicts.md#unmatched-events. */
export async function healUnmatched(ctx: Context, { body }: { body: HealCreate | undefined }) {
  const id = newId();
  const selection = {
    ...(body?.code ? { code: body.code } : {}),
    ...(body?.external_subscription_id ? { external_subscription_id: body.external_subscription_id } : {}),
  };
  await insertRun(ctx, { id, kind: 'heal', input: selection, created_at: ctx.now() });
  ctx.after({ step: 'heal-events', payload: { ...selection, run_id: id } });
  return { heal: runView(await getRun(ctx, id)) };
}

/** A run of healing in its current state. @throws Refusal 404 run */
export async function showHeal(ctx: Context, { heal_id: id }: { heal_id: string }) {
  return { heal: runView(await findRun(ctx, ['heal'], id)) };
}

/** The run a moment later: most are finished by then. */
export async function settleHeal(ctx: Context, { heal }: { heal: { svc_id: string } }) {
  for (let waited = 0; ; waited += LOOK_AGAIN_MS) {
    const run = await getRun(ctx, heal.svc_id);
    if (run.finished_at !== null || waited >= PATIENCE_MS) return { heal: runView(run) };
    await wait(LOOK_AGAIN_MS);
  }
}
