import { assert } from '../../../engine/assert.ts';
import { realNowExactMs } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import { Answer } from '../../../platform/operation.ts';
import { heldCalls, onlySettles } from '../budget-holds/asked-decision.ts';
import { decideInContext } from '../budget-holds/decide-in-context.ts';
import { storeOrRefuse } from '../events/commands.ts';
import { explainBatch } from '../events/explain/explain-batch.ts';
import type { Verdict } from '../events/incoming-event.ts';
import { isoOfMs } from '../events/timestamps.ts';
import { doorSettings } from './door-settings.ts';
import { readAiSettings } from './queries.ts';
import type { UsageInput } from './read-usage.ts';
import { refuseFaults, usageAnswer } from './usage-answer.ts';
import { batchesOf, settlesHolds, verdictsOfCalls, verdictsOfItems } from './usage-batches.ts';

/**
 * Usage of models with an Idempotency-Key: stored in the command's own transaction, as events are, or settled.
 *
 * @throws Refusal 422 of the events, 405 while the test clock advances
 */
export async function storeUsageInCommand(ctx: Context, input: UsageInput): Promise<Answer> {
  refuseFaults(input);
  const now = isoOfMs(realNowExactMs());
  const { currency } = doorSettings(await readAiSettings(ctx));
  const verdicts = settlesHolds(input) ? await settleInCommand(ctx, input) : await storeInCommand(ctx, input, now);
  const { text, isReplayed } = usageAnswer(input, verdicts, currency);
  return new Answer(null, { json: text, ...(isReplayed ? { headers: { 'X-Svc-Replayed': 'true' } } : {}) });
}

/** @returns verdicts on the events of each item */
async function storeInCommand(ctx: Context, input: UsageInput, now: string): Promise<Verdict[][]> {
  const placed = batchesOf(input);
  const verdicts: Verdict[][] = [];
  for (const batch of placed.batches) {
    const own = batch.events.length === 0 ? [] : await storeOrRefuse(ctx, batch, now);
    verdicts.push(await explainBatch(ctx.db, batch, { verdicts: own, now }));
  }
  return verdictsOfItems(placed, verdicts);
}

async function settleInCommand(ctx: Context, { form, items, sender }: UsageInput): Promise<Verdict[][]> {
  const asked = onlySettles(heldCalls(items), { sender, door: { isAtomic: form === 'batch' } });
  const [answer] = await decideInContext(ctx, [asked]);
  assert(answer && 'verdicts' in answer, 'usage of a door is answered with verdicts');
  return verdictsOfCalls(items, answer.verdicts);
}
