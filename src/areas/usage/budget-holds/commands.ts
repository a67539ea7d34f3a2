import { assert } from '../../../engine/assert.ts';
import { isMoney } from '../../../engine/budgets/budget.ts';
import { realNowExactMs } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import { nested } from '../../../platform/records/nested.ts';
import { refuse } from '../../../platform/refusal.ts';
import { isOutdated, sortedWindows } from '../budget-windows/decide-call.ts';
import { decideInCommand, holdCatalog } from '../budget-windows/decide-in-command.ts';
import { tellAccess } from '../events/commands.ts';
import { isDataError } from '../events/storage/data-errors.ts';
import { isoOfMs } from '../events/timestamps.ts';
import { type AllDecided, type Decider, decideAll } from './decide-all.ts';
import { refuseTooLong, windowsOfHold } from './prepare-decisions.ts';
import { findHold, type HoldRow } from './queries.ts';
import type { DecisionInput, HoldSettle, HoldUpdate } from './schema.ts';
import { holdView } from './view.ts';

interface Address {
  svc_id: string;
}

/** How often a settlement is prepared: each time another one has come first. */
const TRIES = 3;

/**
 * Closes a hold by what was used. An event is stored in the same transaction; the same settlement again changes
 * nothing. An expired or released hold is settled too: the money is spent.
 *
 * @throws Refusal 404 budget_hold; 405 hold_not_open; 422 of the event, which leaves the hold as it is
 * Rule: budgets.md#holds.
 */
export async function settleBudgetHold(ctx: Context, { svc_id, body }: Address & { body: HoldSettle }) {
  const hold = await getHold(ctx, svc_id);
  const decided = await settleOnce(ctx, hold, body);
  const [answer] = decided.answers;
  assert(answer && 'decision' in answer, 'a settlement asks nothing');
  const [settled] = answer.decision.settled;
  if (settled!.error_details?.hold_key) throw refuse.notAllowed('hold_not_open');
  if (settled!.error_details) throw refuse.invalid(settled!.error_details);
  if (decided.stored) await followInCommand(ctx, decided.stored.outcome);
  if (decided.step !== null) ctx.after({ nudge: 'step.run', payload: { step_id: decided.step } });
  return show(ctx, hold);
}

async function settleOnce(ctx: Context, hold: HoldRow, { event, amount }: HoldSettle): Promise<AllDecided> {
  const catalog = await holdCatalog(ctx);
  const settlement = { hold_key: hold.hold_key, event, amount };
  const decider = {
    config: ctx.config,
    sender: {
      organizationId: ctx.organizationId,
      sandbox: ctx.sandbox,
      receivedAt: isoOfMs(realNowExactMs()),
    },
    catalog,
    now: ctx.now(),
    present: null,
    realNow: isoOfMs(realNowExactMs()),
  };
  const asked: DecisionInput = {
    hold_key: null,
    code: null,
    external_subscription_id: hold.external_subscription_id,
    expires_in_seconds: 1,
    settle: [settlement],
  };
  const run = (more: Partial<Decider>) => nested(ctx, ({ db }) => decideAll({ ...decider, ...more, db }, [asked]));
  for (let tried = 1; ; tried += 1) {
    try {
      return await run({});
    } catch (error) {
      if (isDataError(error)) return run({ refusesEvents: true });
      if (!isOutdated(error) || tried === TRIES) throw error;
    }
  }
}

async function followInCommand(ctx: Context, { batchId, limitedUsage }: NonNullable<AllDecided['stored']>['outcome']) {
  if (limitedUsage) await tellAccess(ctx.db, limitedUsage);
  if (batchId !== null) ctx.after({ step: 'finish-event-batch', payload: { batch_id: batchId } });
}

/** Gives a hold back. @throws Refusal 404 budget_hold; 405 hold_not_open. Rule: budgets.md#holds. */
export async function releaseBudgetHold(ctx: Context, { svc_id }: Address) {
  const hold = await getHold(ctx, svc_id);
  const catalog = await holdCatalog(ctx);
  const windows = sortedWindows(windowsOfHold(hold, catalog.budgets));
  const { outcomes } = await decideInCommand(ctx, {
    version: catalog.version,
    windows,
    steps: [{ s: 'release', hold: hold.hold_key }],
  });
  if (outcomes[0]!.o !== 'released') throw refuse.notAllowed('hold_not_open');
  return show(ctx, hold);
}

/**
 * Prolongs an open hold from now on, or changes what it holds in windows of money; more needs room.
 *
 * @throws Refusal 404 budget_hold; 405 hold_not_open; 422 expires_in_seconds: value_is_out_of_range; amount:
 *   budget_exceeded
 * Rule: budgets.md#holds.
 */
export async function updateBudgetHold(ctx: Context, { svc_id, body }: Address & { body: HoldUpdate }) {
  const { amount, expires_in_seconds: seconds } = body;
  refuseTooLong(ctx, seconds);
  const hold = await getHold(ctx, svc_id);
  const catalog = await holdCatalog(ctx);
  const windows = sortedWindows(windowsOfHold(hold, catalog.budgets));
  const parts = windows.flatMap((window): [string, string][] =>
    amount !== undefined && 'budget' in window && isMoney(window.budget.measure) ? [[window.id, amount]] : [],
  );
  const { outcomes } = await decideInCommand(ctx, {
    version: catalog.version,
    windows,
    steps: [{ s: 'change', hold: hold.hold_key, seconds: seconds ?? null, parts }],
  });
  if (outcomes[0]!.o === 'full') throw refuse.invalid({ amount: ['budget_exceeded'] });
  if (outcomes[0]!.o !== 'changed') throw refuse.notAllowed('hold_not_open');
  return show(ctx, hold);
}

async function getHold(ctx: Context, address: string): Promise<HoldRow> {
  const hold = await findHold(ctx, address, ctx.now());
  if (!hold) throw refuse.notFound('budget_hold');
  return hold;
}

const show = async (ctx: Context, { id }: HoldRow) => ({ hold: holdView(await getHold(ctx, id)) });
