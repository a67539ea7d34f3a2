import { AmountOutOfRange } from '../../engine/money/cents.ts';
import type { Activity, AfterStep, Context, WebhookEvent } from '../../platform/context.ts';
import { Refusal, refuse } from '../../platform/refusal.ts';
import { OUT_OF_RANGE } from '../../platform/schema/fields.ts';

/** How a story ended that may be refused. */
export type Attempt<Result> = { ok: true; result: Result } | { ok: false; refusal: Refusal };

/**
 * Lets a story of several commands happen as a whole: a refusal takes back all that it wrote, recorded and owed, while the
 * transaction around it goes on.
 */
export async function attempt<Result>(
  ctx: Context,
  story: (ctx: Context) => Promise<Result>,
): Promise<Attempt<Result>> {
  const entries: { activity?: Activity; webhook?: WebhookEvent }[] = [];
  const steps: AfterStep[] = [];
  await ctx.db.unsafe('savepoint attempt');
  try {
    const result = await story({
      ...ctx,
      record: (entry) => entries.push(entry),
      after: (step) => steps.push(step),
    });
    for (const entry of entries) ctx.record(entry);
    for (const step of steps) ctx.after(step);
    return { ok: true, result };
  } catch (error) {
    const refusal = error instanceof AmountOutOfRange ? refuse.invalid({ base: [OUT_OF_RANGE] }) : error;
    if (!(refusal instanceof Refusal)) throw error;
    await ctx.db.unsafe('rollback to savepoint attempt');
    return { ok: false, refusal };
  }
}
