import { AmountOutOfRange, type Cents, cents } from '../../../engine/money/cents.ts';
import { canonicalDigest } from '../../../platform/canonical-json.ts';
import { realNowExactMs } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import type { ExternalSubscriptionId } from '../../../platform/ids.ts';
import { nested } from '../../../platform/records/nested.ts';
import { refuse } from '../../../platform/refusal.ts';
import { findActiveOfCustomer } from '../../subscriptions/subscriptions/queries.ts';
import { storeInCommand } from '../../usage/events/commands.ts';
import { readEvents } from '../../usage/events/read-request.ts';
import { isoOfMs } from '../../usage/events/timestamps.ts';
import { wholeUsageOf } from '../../usage/usage/subscription-usage.ts';
import { markWallets } from '../../usage/wallet-marks/wallet-marks.ts';
import type { Address, Decision } from './commands.ts';
import { change, type HoldBook, holdOf, openBook, saveBook } from './hold-book.ts';
import type { HoldRow } from './queries.ts';
import type { HoldSettle } from './schema.ts';
import { holdView } from './view.ts';

type SettleInput = Address & { body: HoldSettle };

/**
 * Closes a hold by what was used. An event is stored with it: there is no moment in which neither the hold nor the
 * usage counts. An amount is only reported; the caller sends its usage itself. More than was held is allowed. The same
 * settlement again changes nothing.
 *
 * @throws Refusal 404 wallet, wallet_hold; 405 hold_not_open
 * @throws Refusal 422 of the event, which leaves the hold open; external_subscription_id: value_is_invalid, of an event
 *   for another subscription than the hold's
 * Rule: wallet-holds.md "settle".
 */
export async function settleHold(ctx: Context, input: SettleInput) {
  const { body } = input;
  const book = await openBook(ctx, input.svc_id, { holdIds: [input.hold_id], externalSubscriptionIds: [] });
  const hold = holdOf(book, input.hold_id);
  if (!body.event || isRepeated(hold, body)) {
    const settled = settleByAmount(ctx, book, input);
    await saveBook(ctx, book);
    return { hold: holdView(settled) };
  }
  if (hold.status !== 'open') throw refuse.notAllowed('hold_not_open');
  const stored = await storeEvent(ctx, book.wallet, hold, body.event);
  const settled = change(book, hold, { ...settledBy(ctx, body), ...stored, awaits_refresh: true });
  await saveBook(ctx, book);
  // The ongoing balance is computed again in any case, even if no charge bills the event.
  await markWallets(ctx, book.wallet.customer_id);
  return { hold: holdView(settled) };
}

/** Closes a hold by an amount, or leaves one that was settled with the same already. */
export const settleByAmount: Decision<SettleInput> = (ctx, book, { hold_id, body }) => {
  const hold = holdOf(book, hold_id);
  if (isRepeated(hold, body)) return hold;
  if (hold.status !== 'open') throw refuse.notAllowed('hold_not_open');
  const settled_amount_cents = cents(body.amount_cents!); // the schema has one of the two
  return change(book, hold, { ...settledBy(ctx, body), settled_amount_cents });
};

const isRepeated = (hold: HoldRow, body: HoldSettle): boolean =>
  hold.status === 'settled' && hold.settlement_digest !== null && digestOf(body).equals(hold.settlement_digest);

const settledBy = (ctx: Context, body: HoldSettle) =>
  ({ status: 'settled', closed_at: ctx.now(), settlement_digest: digestOf(body) }) as const;

const digestOf = ({ event, amount_cents }: HoldSettle): Buffer => canonicalDigest(event ?? { amount_cents });

async function storeEvent(ctx: Context, wallet: HoldBook['wallet'], hold: HoldRow, given: Record<string, unknown>) {
  const event = { external_subscription_id: hold.external_subscription_id ?? undefined, ...given };
  if (hold.external_subscription_id !== null && event.external_subscription_id !== hold.external_subscription_id)
    throw refuse.invalid({ external_subscription_id: ['value_is_invalid'] });
  const input = await readEvents(
    'single',
    { event },
    {
      limits: ctx.config,
      sender: {
        organization_id: ctx.organizationId,
        sandbox: ctx.sandbox,
        received_at: isoOfMs(realNowExactMs()),
        user_agent: null,
        remote_address: null,
      },
    },
  );
  const [sent] = input.batch.events;
  const settled_amount_cents = await marginalAmount(ctx, wallet, sent!, () => storeInCommand(ctx, input));
  return { settled_amount_cents, event_transaction_id: sent!.transaction_id };
}

/**
 * What an event adds to the usage in progress of its subscription, without taxes; null if that is unknown, because no
 * charge in arrears takes it or other events were stored meanwhile.
 */
async function marginalAmount(
  ctx: Context,
  wallet: HoldBook['wallet'],
  { external_subscription_id, code }: { external_subscription_id: ExternalSubscriptionId; code: string },
  store: () => Promise<unknown>,
): Promise<Cents | null> {
  const subscription = await findActiveOfCustomer(ctx, wallet.customer_id, external_subscription_id);
  const read = async (own: Context) => {
    if (!subscription) return undefined;
    const usage = (await wholeUsageOf(own, subscription, own.now())).filter(
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

/** An amount that overflows is no reason to refuse the event. */
async function ignoringAbsurd<Value>(ctx: Context, read: (own: Context) => Promise<Value>): Promise<Value | undefined> {
  try {
    return await nested(ctx, read);
  } catch (error) {
    if (error instanceof AmountOutOfRange) return undefined;
    throw error;
  }
}
