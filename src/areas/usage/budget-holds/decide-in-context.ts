import { realNowExactMs } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import { nested } from '../../../platform/records/nested.ts';
import { ModelBooks } from '../../catalog/model-books/model-books.ts';
import { isOutdated } from '../budget-windows/decide-call.ts';
import { holdCatalog } from '../budget-windows/decide-in-command.ts';
import { tellAccess } from '../events/commands.ts';
import { isDataError } from '../events/storage/data-errors.ts';
import { isoOfMs } from '../events/timestamps.ts';
import type { AskedDecision } from './asked-decision.ts';
import { type AllDecided, type Decider, type DecisionAnswer, decideAll } from './decide-all.ts';

/** How often decisions are prepared: each time another one has come first. */
const TRIES = 3;

/**
 * Decides in the transaction of a command, and owes what follows from stored events.
 *
 * @throws Refusal as decideAll
 */
export async function decideInContext(ctx: Context, asked: readonly AskedDecision[]): Promise<DecisionAnswer[]> {
  const { answers, stored, step } = await decideOnce(ctx, asked);
  if (stored?.outcome.limitedUsage) await tellAccess(ctx.db, stored.outcome.limitedUsage);
  const batchId = stored?.outcome.batchId ?? null;
  if (batchId !== null) ctx.after({ step: 'finish-event-batch', payload: { batch_id: batchId } });
  if (step !== null) ctx.after({ nudge: 'step.run', payload: { step_id: step } });
  return answers;
}

async function decideOnce(ctx: Context, asked: readonly AskedDecision[]): Promise<AllDecided> {
  const at = isoOfMs(realNowExactMs());
  const decider: Omit<Decider, 'db'> = {
    config: ctx.config,
    sender: { organizationId: ctx.organizationId, sandbox: ctx.sandbox, receivedAt: at },
    catalog: await holdCatalog(ctx),
    books: new ModelBooks(),
    now: ctx.now(),
    present: null,
    realNow: at,
  };
  const run = (more: Partial<Decider>) => nested(ctx, ({ db }) => decideAll({ ...decider, ...more, db }, asked));
  for (let tried = 1; ; tried += 1) {
    try {
      return await run({});
    } catch (error) {
      if (isDataError(error)) return run({ refusesEvents: true });
      if (!isOutdated(error) || tried === TRIES) throw error;
    }
  }
}
