import { availableCents, heldAmount } from '../../engine/credits/wallet-hold.ts';
import { addCents, type Cents, cents } from '../../engine/money/cents.ts';
import type { Context } from '../../platform/context.ts';
import { newId } from '../../platform/ids.ts';
import { refuse } from '../../platform/refusal.ts';
import { lockWallet, type WalletRow } from '../wallets/queries.ts';
import { getHold, type HoldRow, listHeldCents } from './queries.ts';
import type { HoldCreate, HoldUpdate } from './schema.ts';
import { holdView } from './view.ts';
import { changeHold, closeHold, insertHold } from './writes.ts';

interface Address {
  svc_id: string;
  hold_id: string;
}

/**
 * Sets credit of a wallet aside; with `allow_partial` what there is, when that is less.
 *
 * @throws Refusal 404 wallet, subscription (one that is none of the wallet's customer); 405 wallet_not_active
 * @throws Refusal 422 amount_cents: insufficient_credits; expires_in_seconds: value_is_out_of_range
 * Rule: beyond 11.3.
 */
export async function createHold(ctx: Context, { svc_id, body }: { svc_id: string; body: HoldCreate }) {
  const wallet = await lockWallet(ctx.db, ctx.organizationId, { id: svc_id });
  if (!wallet) throw refuse.notFound('wallet');
  if (wallet.status !== 'active') throw refuse.notAllowed('wallet_not_active');
  const expiresAt = endOf(ctx, body.expires_in_seconds);
  if (body.external_subscription_id) await checkSubscription(ctx, wallet, body.external_subscription_id);
  const available = await availableOf(ctx, wallet);
  const amount = heldAmount(cents(body.amount_cents), available, { isPartial: body.allow_partial === true });
  if (amount === 0) throw refuse.invalid({ amount_cents: ['insufficient_credits'] });
  const id = newId();
  await insertHold(
    ctx.db,
    ctx.organizationId,
    {
      id,
      wallet_id: wallet.id,
      amount_cents: amount,
      available_cents: available,
      reference: body.reference ?? null,
      external_subscription_id: body.external_subscription_id || null,
      expires_at: expiresAt,
    },
    ctx.now(),
  );
  return answer(ctx, { svc_id: wallet.id, hold_id: id });
}

/**
 * Prolongs an open hold from now on, or changes its amount; more needs to be available.
 *
 * @throws Refusal 404 wallet, wallet_hold; 405 hold_not_open, wallet_not_active (for more)
 * @throws Refusal 422 as createHold; reference, external_subscription_id: value_is_frozen
 * Rule: beyond 11.3.
 */
export async function updateHold(ctx: Context, { body, ...address }: Address & { body: HoldUpdate }) {
  const { wallet, hold } = await lockHold(ctx, address);
  refuseFrozen(body, hold);
  if (hold.status !== 'open') throw refuse.notAllowed('hold_not_open');
  const expiresAt = body.expires_in_seconds === undefined ? hold.expires_at : endOf(ctx, body.expires_in_seconds);
  const amount = cents(body.amount_cents ?? hold.amount_cents);
  const available = addCents(await availableOf(ctx, wallet), hold.amount_cents);
  const asksForMore = amount > hold.amount_cents;
  if (asksForMore && wallet.status !== 'active') throw refuse.notAllowed('wallet_not_active');
  if (asksForMore && amount > available) throw refuse.invalid({ amount_cents: ['insufficient_credits'] });
  // Usage may have outrun a hold since: what it has it keeps.
  const covered = cents(Math.max(available, hold.amount_cents));
  await changeHold(
    ctx.db,
    ctx.organizationId,
    { id: hold.id, amount_cents: amount, available_cents: covered, expires_at: expiresAt },
    ctx.now(),
  );
  return answer(ctx, address);
}

/** Gives held credit back. @throws Refusal 404 wallet, wallet_hold; 405 hold_not_open. Rule: beyond 11.3. */
export async function releaseHold(ctx: Context, address: Address) {
  const { hold } = await lockHold(ctx, address);
  if (hold.status !== 'open') throw refuse.notAllowed('hold_not_open');
  await closeHold(ctx.db, ctx.organizationId, { id: hold.id, status: 'released', closed_at: ctx.now() }, ctx.now());
  return answer(ctx, address);
}

/** A hold with its wallet, neither of which changes until the transaction ends. @throws Refusal 404 wallet, wallet_hold */
export async function lockHold(ctx: Context, address: Address): Promise<{ wallet: WalletRow; hold: HoldRow }> {
  const wallet = await lockWallet(ctx.db, ctx.organizationId, { id: address.svc_id });
  if (!wallet) throw refuse.notFound('wallet');
  const key = { walletId: wallet.id, holdId: address.hold_id };
  return { wallet, hold: await getHold(ctx.db, ctx.organizationId, key, ctx.now()) };
}

/** A hold as it now is. */
export async function answer(ctx: Context, { svc_id, hold_id }: Address) {
  const hold = await getHold(ctx.db, ctx.organizationId, { walletId: svc_id, holdId: hold_id }, ctx.now());
  return { hold: holdView(hold) };
}

async function availableOf(ctx: Context, wallet: WalletRow): Promise<Cents> {
  const [held] = await listHeldCents(ctx.db, ctx.organizationId, [wallet.id], ctx.now());
  return availableCents(cents(wallet.ongoing_balance_cents), cents(held?.held_cents ?? 0));
}

function endOf(ctx: Context, seconds: number) {
  if (seconds > ctx.config.HOLD_MAX_SECONDS) throw refuse.invalid({ expires_in_seconds: ['value_is_out_of_range'] });
  return ctx.now().add({ seconds });
}

async function checkSubscription(ctx: Context, wallet: WalletRow, externalId: string): Promise<void> {
  const [found] = await ctx.db`
    select from subscriptions
    where organization_id = ${ctx.organizationId} and external_id = ${externalId} and customer_id = ${wallet.customer_id}
    limit 1`;
  if (!found) throw refuse.notFound('subscription');
}

function refuseFrozen(body: HoldUpdate, hold: HoldRow): void {
  const frozen = (['reference', 'external_subscription_id'] as const).filter(
    (field) => body[field] !== undefined && (body[field] || null) !== hold[field],
  );
  if (frozen.length > 0) throw refuse.invalid(Object.fromEntries(frozen.map((field) => [field, ['value_is_frozen']])));
}
