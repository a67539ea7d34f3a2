import { AmountOutOfRange } from '../../../engine/money/cents.ts';
import type { Context } from '../../../platform/context.ts';
import { nested } from '../../../platform/records/nested.ts';
import { Refusal, refuse } from '../../../platform/refusal.ts';
import { OUT_OF_RANGE } from '../../../platform/schema/fields.ts';

/** Outcome of commands that may be refused. */
export type Attempt<Result> = { ok: true; result: Result } | { ok: false; refusal: Refusal };

/**
 * Runs several commands as one unit: a refusal undoes everything they wrote, recorded and owed, while the surrounding
 * transaction goes on.
 */
export async function attempt<Result>(
  ctx: Context,
  story: (ctx: Context) => Promise<Result>,
): Promise<Attempt<Result>> {
  try {
    return { ok: true, result: await nested(ctx, story) };
  } catch (error) {
    const refusal = error instanceof AmountOutOfRange ? refuse.invalid({ base: [OUT_OF_RANGE] }) : error;
    if (!(refusal instanceof Refusal)) throw error;
    return { ok: false, refusal };
  }
}
