import { AmountOutOfRange, type Cents, cents } from '../../engine/money/cents.ts';
import { canonicalDigest } from '../../platform/canonical-json.ts';
import { realNowExactMs } from '../../platform/clock/real-clock.ts';
import type { Context } from '../../platform/context.ts';
import type { Tx } from '../../platform/db/connect.ts';
import { refuse } from '../../platform/refusal.ts';
import { storeInCommand } from '../events/commands.ts';
import { readEvents } from '../events/requests.ts';
import { isoOfMs } from '../events/timestamps.ts';
import { findActiveOfCustomer } from '../subscriptions/queries.ts';
import { wholeUsageOf } from '../usage/subscription-usage.ts';
import { markWallets } from '../wallets/marks.ts';
import type { WalletRow } from '../wallets/queries.ts';
import { answer, lockHold } from './commands.ts';
import type { HoldRow } from './queries.ts';
import type { HoldSettle } from './schema.ts';
import { closeHold } from './writes.ts';

interface Input {
  svc_id: string;
  hold_id: string;
  body: HoldSettle;
}

/**
 * Closes a hold by what was used. An event is stored with it: usage takes the place of the hold without a moment in which
 * neither counts. An amount is only reported; the caller sends its usage itself. More than was held is allowed. The same
 * settlement again changes nothing.
 *
 * @throws Refusal 404 wallet, wallet_hold; 405 hold_not_open
 * @throws Refusal 422 of the event, which leaves the hold open; external_subscription_id: value_is_invalid, of an event for
 *   another subscription than the hold's
 * Rule: beyond 11.3 "settle".
 */
export async function settleHold(ctx: Context, { body, ...address }: Input) {
  const { wallet, hold } = await lockHold(ctx, address);
  const digest = canonicalDigest(body.event ?? { amount_cents: body.amount_cents });
  if (hold.status === 'settled' && hold.settlement_digest && digest.equals(hold.settlement_digest))
    return answer(ctx, address);
  if (hold.status !== 'open') throw refuse.notAllowed('hold_not_open');
  const closing = { id: hold.id, status: 'settled', closed_at: ctx.now(), settlement_digest: digest } as const;
  if (!body.event) {
    const settled_amount_cents = cents(body.amount_cents!); // the schema has one of the two
    await closeHold(ctx.db, ctx.organizationId, { ...closing, settled_amount_cents }, ctx.now());
    return answer(ctx, address);
  }
  const stored = await storeEvent(ctx, wallet, hold, body.event);
  await closeHold(ctx.db, ctx.organizationId, { ...closing, ...stored, awaits_refresh: true }, ctx.now());
  // The ongoing balance is worked out anew in any case, also when nothing bills the event.
  await markWallets(ctx, wallet.customer_id);
  return answer(ctx, address);
}

async function storeEvent(ctx: Context, wallet: WalletRow, hold: HoldRow, given: Record<string, unknown>) {
  const event = { external_subscription_id: hold.external_subscription_id ?? undefined, ...given };
  if (hold.external_subscription_id !== null && event.external_subscription_id !== hold.external_subscription_id)
    throw refuse.invalid({ external_subscription_id: ['value_is_invalid'] });
  const input = readEvents('single', { event }, ctx.config, {
    organization_id: ctx.organizationId,
    sandbox: ctx.sandbox,
    received_at: isoOfMs(realNowExactMs()),
    user_agent: null,
    remote_address: null,
  });
  const [sent] = input.batch.events;
  const settled_amount_cents = await marginalAmount(ctx, wallet, sent!, () => storeInCommand(ctx, input));
  return { settled_amount_cents, event_transaction_id: sent!.transaction_id };
}

/**
 * What an event adds to the usage in progress of its subscription, without taxes; null when that cannot be told: no charge in
 * arrears takes it, or other events were stored meanwhile.
 */
async function marginalAmount(
  ctx: Context,
  wallet: WalletRow,
  { external_subscription_id, code }: { external_subscription_id: string; code: string },
  store: () => Promise<unknown>,
): Promise<Cents | null> {
  const subscription = await findActiveOfCustomer(
    ctx.db,
    ctx.organizationId,
    wallet.customer_id,
    external_subscription_id,
  );
  const read = async () => {
    if (!subscription) return undefined;
    const usage = (await wholeUsageOf(ctx, subscription, ctx.now())).filter(
      ({ charge }) => charge.metric.code === code && !charge.pay_in_advance,
    );
    return usage.length === 0 ? undefined : usage.map(({ shares }) => totalOf(shares));
  };
  const before = await ignoringAbsurd(ctx, read);
  await store();
  const after = await ignoringAbsurd(ctx, read);
  if (!before || !after || before.length !== after.length) return null;
  const counts = after.map(({ events }, place) => events - before[place]!.events);
  if (!counts.every((count) => count === 1)) return null;
  return cents(after.reduce((sum, { amount }, place) => sum + amount - before[place]!.amount, 0));
}

const totalOf = (shares: readonly { counted: { eventsCount: number }; fee: { amountCents: Cents } }[]) => ({
  events: shares.reduce((sum, { counted }) => sum + counted.eventsCount, 0),
  amount: shares.reduce((sum, { fee }) => sum + fee.amountCents, 0),
});

/** Amounts that no number of ours can hold are no reason to refuse the event. */
async function ignoringAbsurd<Value>(ctx: Context, read: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await ((ctx.db as Tx).savepoint(() => read()) as Promise<Value>);
  } catch (error) {
    if (error instanceof AmountOutOfRange) return undefined;
    throw error;
  }
}
