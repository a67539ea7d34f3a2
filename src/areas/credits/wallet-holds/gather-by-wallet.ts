import { AmountOutOfRange } from '../../../engine/money/cents.ts';
import type { Context } from '../../../platform/context.ts';
import type { GatheredInput, Gathering, OperationInput } from '../../../platform/operation.ts';
import { Refusal, refuse } from '../../../platform/refusal.ts';
import { OUT_OF_RANGE } from '../../../platform/schema/fields.ts';
import { changeHold, type Decision, giveBack, needsOf, openHold } from './commands.ts';
import { openBook, saveBook } from './hold-book.ts';
import { settleByAmount } from './settle-hold.ts';
import { holdView } from './view.ts';

const DECISIONS: Readonly<Record<string, Decision<OperationInput>>> = {
  createWalletHold: openHold,
  updateWalletHold: changeHold,
  releaseWalletHold: giveBack,
  settleWalletHold: settleByAmount,
};

/**
 * Many callers may want holds of one wallet at the same moment; waiting commands are decided with one book at the cost
 * of one command. A settlement with an event stores that event and runs alone. Rule: wallet-holds.md "Lock".
 */
export const gathersByWallet: Gathering = {
  keyOf: ({ svc_id }: { svc_id: string }) => svc_id,
  isAlone: ({ body }: { body?: { event?: unknown } }) => Boolean(body?.event),
  run: decideAll,
};

/** @throws Refusal 404 wallet, for all of them */
async function decideAll(ctx: Context, commands: readonly GatheredInput[]): Promise<(object | Refusal)[]> {
  const inputs = commands.map(({ input }) => input);
  const book = await openBook(ctx, inputs[0].svc_id, needsOf(inputs));
  const verdicts = commands.map(({ operation, input }) =>
    verdictOf(() => ({ hold: holdView(DECISIONS[operation]!(ctx, book, input)) })),
  );
  await saveBook(ctx, book);
  return verdicts;
}

function verdictOf(decide: () => object): object | Refusal {
  try {
    return decide();
  } catch (error) {
    if (error instanceof AmountOutOfRange) return refuse.invalid({ base: [OUT_OF_RANGE] });
    if (error instanceof Refusal) return error;
    throw error;
  }
}
