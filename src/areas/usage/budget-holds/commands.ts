import { assert } from '../../../engine/assert.ts';
import { isMoney } from '../../../engine/budgets/budget.ts';
import type { Context } from '../../../platform/context.ts';
import { type FieldErrors, refuse } from '../../../platform/refusal.ts';
import { sortedWindows } from '../budget-windows/decide-call.ts';
import { decideInCommand, holdCatalog } from '../budget-windows/decide-in-command.ts';
import { onlySettles, type SettleInput } from './asked-decision.ts';
import { decideInContext } from './decide-in-context.ts';
import { refuseTooLong, windowsOfHold } from './prepare-decisions.ts';
import { findHold, type HoldRow } from './queries.ts';
import type { HoldUpdate } from './schema.ts';
import { holdView } from './view.ts';

interface Address {
  svc_id: string;
}

/**
 * Closes a hold by what was used. An event is stored in the same transaction; the same settlement again changes
 * nothing. An expired or released hold is settled too: the money is spent.
 *
 * @throws Refusal 404 budget_hold; 405 hold_not_open; 422 of the event, which leaves the hold as it is
 * Rule: budgets.md#holds.
 */
export async function settleBudgetHold(ctx: Context, { svc_id, body, usage, sender }: Address & SettleInput) {
  const hold = await getHold(ctx, svc_id);
  const { event, amount } = body;
  const settlement = { hold_key: hold.hold_key, event, amount, ...(usage ? { usage } : {}) };
  const [answer] = await decideInContext(ctx, [onlySettles([settlement], { sender })]);
  assert(answer && 'decision' in answer, 'a settlement asks nothing');
  const [settled] = answer.decision.settled;
  const errors = settled!.error_details as FieldErrors | undefined;
  if ((errors?.hold_key as string[] | undefined)?.includes('hold_not_open')) throw refuse.notAllowed('hold_not_open');
  if (errors) throw refuse.invalid(errors);
  return show(ctx, hold);
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
