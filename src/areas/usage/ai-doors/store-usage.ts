import { realNowExactMs } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import { Answer } from '../../../platform/operation.ts';
import { storeOrRefuse } from '../events/commands.ts';
import { explainBatch } from '../events/explain/explain-batch.ts';
import type { Verdict } from '../events/incoming-event.ts';
import { isoOfMs } from '../events/timestamps.ts';
import { doorSettings } from './door-settings.ts';
import { readAiSettings } from './queries.ts';
import type { UsageInput } from './read-usage.ts';
import { refuseFaults, usageAnswer } from './usage-answer.ts';
import { batchesOf, verdictsOfItems } from './usage-batches.ts';

/**
 * Usage of models with an Idempotency-Key: stored in the command's own transaction, as events are.
 *
 * @throws Refusal 422 of the events, 405 while the test clock advances
 */
export async function storeUsageInCommand(ctx: Context, input: UsageInput): Promise<Answer> {
  refuseFaults(input);
  const now = isoOfMs(realNowExactMs());
  const { currency } = doorSettings(await readAiSettings(ctx));
  const placed = batchesOf(input);
  const verdicts: Verdict[][] = [];
  for (const batch of placed.batches) {
    const own = batch.events.length === 0 ? [] : await storeOrRefuse(ctx, batch, now);
    verdicts.push(await explainBatch(ctx.db, batch, { verdicts: own, now }));
  }
  const { text, isReplayed } = usageAnswer(input, verdictsOfItems(placed, verdicts), currency);
  return new Answer(null, { json: text, ...(isReplayed ? { headers: { 'X-Svc-Replayed': 'true' } } : {}) });
}
