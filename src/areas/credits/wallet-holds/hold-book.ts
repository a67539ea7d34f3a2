import { availableCents, type HoldStatus } from '../../../engine/credits/wallet-hold.ts';
import { type Cents, cents } from '../../../engine/money/cents.ts';
import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { CustomerId, ExternalSubscriptionId, WalletHoldId, WalletId } from '../../../platform/ids.ts';
import { isUuid } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { countHeld, lockHeld } from '../../usage/access/held-sum.ts';
import { findHolds, type HoldRow } from './queries.ts';
import { changeHolds, insertHolds } from './writes.ts';

/** The wallet of a book, locked until the transaction ends. */
interface HeldWallet {
  id: WalletId;
  customer_id: CustomerId;
  status: 'active' | 'terminated';
  currency: string;
  ongoing_balance_cents: Cents;
}

/** What commands on one wallet ask about. */
export interface BookNeeds {
  holdIds: readonly WalletHoldId[];
  /** Subscriptions that holds name. */
  externalSubscriptionIds: readonly ExternalSubscriptionId[];
}

/**
 * A locked wallet with the holds that commands are about, so that many commands are decided without a statement each. A
 * refused command leaves the book unchanged; `saveBook` writes what changed, in two statements.
 */
export interface HoldBook {
  readonly wallet: HeldWallet;
  /** What lowers the available credit, with the decisions so far. */
  heldCents: Cents;
  readonly holds: Map<string, HoldRow>;
  /** External ids of subscriptions of the wallet's customer, among those asked about. */
  readonly subscriptions: ReadonlySet<string>;
  readonly made: Set<string>;
  readonly changed: Set<string>;
}

/**
 * Locks a wallet and reads what the commands need. It locks only the wallet, so billing of its customer does not delay
 * holds.
 *
 * @throws Refusal 404 wallet. Rule: wallet-holds.md "Lock".
 */
export async function openBook(ctx: Context, walletId: WalletId, needs: BookNeeds): Promise<HoldBook> {
  const wallet = await lockAlone(ctx, walletId);
  if (!wallet) throw refuse.notFound('wallet');
  const [, [held], holds, subscriptions] = await Promise.all([
    lockHeld(ctx, [wallet.id]),
    countHeld(ctx, [wallet.id], ctx.now()),
    findHolds(ctx, { walletId: wallet.id, ids: needs.holdIds }, ctx.now()),
    findSubscriptions(ctx, wallet.customer_id, needs.externalSubscriptionIds),
  ]);
  return {
    wallet,
    heldCents: cents(held!.held_cents),
    holds: new Map(holds.map((hold) => [hold.id, hold])),
    subscriptions: new Set(subscriptions.map(({ external_id }) => external_id)),
    made: new Set(),
    changed: new Set(),
  };
}

/** Writes what was decided. */
export async function saveBook(ctx: Context, book: HoldBook): Promise<void> {
  const rowsOf = (ids: Set<string>) => [...ids].map((id) => book.holds.get(id)!);
  if (book.made.size > 0) await insertHolds(ctx, rowsOf(book.made), ctx.now());
  if (book.changed.size > 0) await changeHolds(ctx, rowsOf(book.changed), ctx.now());
}

/** A hold of the book. @throws Refusal 404 wallet_hold */
export function holdOf(book: HoldBook, id: WalletHoldId): HoldRow {
  const hold = book.holds.get(id);
  if (!hold) throw refuse.notFound('wallet_hold');
  return hold;
}

export const availableOf = ({ wallet, heldCents }: HoldBook): Cents =>
  availableCents(wallet.ongoing_balance_cents, heldCents);

/** Adds an opened hold. */
export function putHold(book: HoldBook, hold: HoldRow): HoldRow {
  book.made.add(hold.id);
  return enter(book, hold);
}

/** Replaces a hold by its new state. */
export function change(book: HoldBook, hold: HoldRow, changes: Partial<HoldRow>): HoldRow {
  if (!book.made.has(hold.id)) book.changed.add(hold.id);
  return enter(book, { ...hold, ...changes });
}

function enter(book: HoldBook, hold: HoldRow): HoldRow {
  const former = book.holds.get(hold.id);
  book.heldCents = cents(book.heldCents - (former ? countedCents(former) : 0) + countedCents(hold));
  book.holds.set(hold.id, hold);
  return hold;
}

/** What a hold takes from the available credit, its status being the one of the present. */
const countedCents = ({ status, awaits_refresh, amount_cents }: HoldRow): number =>
  status === ('open' satisfies HoldStatus) || awaits_refresh ? amount_cents : 0;

async function lockAlone({ db, organizationId }: Scope, id: WalletId): Promise<HeldWallet | undefined> {
  if (!isUuid(id)) return undefined;
  const [wallet] = await db<HeldWallet[]>`
    select id, customer_id, status, currency, ongoing_balance_cents from wallets
    where organization_id = ${organizationId} and id = ${id}
    for no key update`;
  return wallet;
}

const findSubscriptions = async (
  { db, organizationId }: Scope,
  customerId: CustomerId,
  externalIds: readonly string[],
): Promise<{ external_id: string }[]> =>
  externalIds.length === 0
    ? []
    : db<{ external_id: string }[]>`
        select distinct external_id from subscriptions
        where organization_id = ${organizationId} and external_id = any (${externalIds}::text[])
          and customer_id = ${customerId}`;
