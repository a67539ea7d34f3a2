import { heldAmount } from '../../../engine/credits/wallet-hold.ts';
import { addCents, cents } from '../../../engine/money/cents.ts';
import type { Context } from '../../../platform/context.ts';
import type { WalletHoldId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import {
  availableOf,
  type BookNeeds,
  change,
  type HoldBook,
  holdOf,
  openBook,
  putHold,
  saveBook,
} from './hold-book.ts';
import type { HoldRow } from './queries.ts';
import type { HoldCreate, HoldUpdate } from './schema.ts';
import { holdView } from './view.ts';

/** Where a hold is. */
export interface Address {
  svc_id: string;
  hold_id: WalletHoldId;
}

/** A command on the holds of one wallet, decided with its book. If it throws a Refusal, the book is unchanged. */
export type Decision<Input> = (ctx: Context, book: HoldBook, input: Input) => HoldRow;

type CreateInput = { svc_id: string; body: HoldCreate };
type UpdateInput = Address & { body: HoldUpdate };

/**
 * Sets credit of a wallet aside; with `allow_partial` the available rest, if that is less.
 *
 * @throws Refusal 404 wallet, subscription (one of another customer); 405 wallet_not_active
 * @throws Refusal 422 amount_cents: insufficient_credits; expires_in_seconds: value_is_out_of_range
 * Rule: wallet-holds.md.
 */
export const createHold = (ctx: Context, input: CreateInput) => alone(ctx, input, openHold);

/**
 * Prolongs an open hold from now on, or changes its amount; more needs to be available.
 *
 * @throws Refusal 404 wallet, wallet_hold; 405 hold_not_open, wallet_not_active (for more)
 * @throws Refusal 422 as createHold; reference, external_subscription_id: value_is_frozen
 * Rule: wallet-holds.md.
 */
export const updateHold = (ctx: Context, input: UpdateInput) => alone(ctx, input, changeHold);

/** Gives held credit back. @throws Refusal 404 wallet, wallet_hold; 405 hold_not_open. Rule: wallet-holds.md. */
export const releaseHold = (ctx: Context, input: Address) => alone(ctx, input, giveBack);

/** One command alone, with a book of its own. */
async function alone<Input extends { svc_id: string; hold_id?: WalletHoldId; body?: object }>(
  ctx: Context,
  input: Input,
  decide: Decision<Input>,
) {
  const book = await openBook(ctx, input.svc_id, needsOf([input]));
  const hold = decide(ctx, book, input);
  await saveBook(ctx, book);
  return { hold: holdView(hold) };
}

/** What commands on one wallet ask about. */
export const needsOf = (inputs: readonly { hold_id?: WalletHoldId; body?: object }[]): BookNeeds => ({
  holdIds: inputs.flatMap(({ hold_id }) => hold_id ?? []),
  externalSubscriptionIds: inputs.flatMap(
    ({ body }) => (body as HoldCreate | undefined)?.external_subscription_id || [],
  ),
});

export const openHold: Decision<CreateInput> = (ctx, book, { body }) => {
  const { wallet } = book;
  if (wallet.status !== 'active') throw refuse.notAllowed('wallet_not_active');
  const expiresAt = endOf(ctx, body.expires_in_seconds);
  const subscription = body.external_subscription_id || null;
  if (subscription !== null && !book.subscriptions.has(subscription)) throw refuse.notFound('subscription');
  const available = availableOf(book);
  const amount = heldAmount(cents(body.amount_cents), available, { isPartial: body.allow_partial === true });
  if (amount === 0) throw refuse.invalid({ amount_cents: ['insufficient_credits'] });
  return putHold(book, {
    id: newId(),
    wallet_id: wallet.id,
    status: 'open',
    amount_cents: amount,
    available_cents: available,
    settled_amount_cents: null,
    currency: wallet.currency,
    reference: body.reference ?? null,
    external_subscription_id: subscription,
    event_transaction_id: null,
    settlement_digest: null,
    awaits_refresh: false,
    expires_at: expiresAt,
    created_at: ctx.now(),
    closed_at: null,
  });
};

export const changeHold: Decision<UpdateInput> = (ctx, book, { hold_id, body }) => {
  const hold = holdOf(book, hold_id);
  refuseFrozen(body, hold);
  if (hold.status !== 'open') throw refuse.notAllowed('hold_not_open');
  const expiresAt = body.expires_in_seconds === undefined ? hold.expires_at : endOf(ctx, body.expires_in_seconds);
  const amount = cents(body.amount_cents ?? hold.amount_cents);
  const available = addCents(availableOf(book), hold.amount_cents);
  const asksForMore = amount > hold.amount_cents;
  if (asksForMore && book.wallet.status !== 'active') throw refuse.notAllowed('wallet_not_active');
  if (asksForMore && amount > available) throw refuse.invalid({ amount_cents: ['insufficient_credits'] });
  // A hold keeps its amount even if usage has exceeded it since.
  const covered = cents(Math.max(available, hold.amount_cents));
  return change(book, hold, { amount_cents: amount, available_cents: covered, expires_at: expiresAt });
};

export const giveBack: Decision<Address> = (ctx, book, { hold_id }) => {
  const hold = holdOf(book, hold_id);
  if (hold.status !== 'open') throw refuse.notAllowed('hold_not_open');
  return change(book, hold, { status: 'released', closed_at: ctx.now() });
};

function endOf(ctx: Context, seconds: number) {
  if (seconds > ctx.config.HOLD_MAX_SECONDS) throw refuse.invalid({ expires_in_seconds: ['value_is_out_of_range'] });
  return ctx.now().add({ seconds });
}

function refuseFrozen(body: HoldUpdate, hold: HoldRow): void {
  const frozen = (['reference', 'external_subscription_id'] as const).filter(
    (field) => body[field] !== undefined && (body[field] || null) !== hold[field],
  );
  if (frozen.length > 0) throw refuse.invalid(Object.fromEntries(frozen.map((field) => [field, ['value_is_frozen']])));
}
