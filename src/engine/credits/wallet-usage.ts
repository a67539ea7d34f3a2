import { type Cents, cents } from '../money/cents.ts';
import { keyText, mayPay, type WalletKey, type WalletLimits } from './wallet-payment.ts';

/** Usage, drafts, or amounts already billed of them, in cents with tax; billed amounts are negative. */
export interface PooledAmount {
  key: WalletKey;
  amountCents: Cents;
}

export interface WatchedWallet extends WalletLimits {
  id: string;
  balanceCents: Cents;
  /** A rule refills the wallet when it runs low, so it takes the whole rest. */
  isRefilled: boolean;
}

/**
 * The unpaid usage of a customer by wallet, in the order of the wallets.
 *
 * amounts  of one currency
 * → cents ≥ 0 a wallet; the last one that may pay something takes it even beyond its balance
 *
 *   sms 4000 on balances 3000 and 4000 that may pay it → 3000 and 1000
 *
 * Rule: top-ups.md#ongoing-balance.
 */
export function spreadUsage(amounts: readonly PooledAmount[], wallets: readonly WatchedWallet[]): Map<string, Cents> {
  const spread = new Map(wallets.map(({ id }) => [id, 0]));
  let budget = Math.max(
    0,
    amounts.reduce((total, { amountCents }) => total + amountCents, 0),
  );
  for (const { key, amountCents } of poolsOf(amounts)) {
    let rest = Math.min(amountCents, budget);
    budget -= rest;
    const fitting = wallets.filter((wallet) => mayPay(wallet, key));
    for (const [index, wallet] of fitting.entries()) {
      const isLast = index === fitting.length - 1;
      const own = spread.get(wallet.id)!;
      const take = wallet.isRefilled || isLast ? rest : Math.min(rest, Math.max(0, wallet.balanceCents - own));
      spread.set(wallet.id, own + take);
      rest -= take;
    }
  }
  return new Map([...spread].map(([id, amount]) => [id, cents(amount)]));
}

function poolsOf(amounts: readonly PooledAmount[]): { key: WalletKey; amountCents: number }[] {
  const pools = new Map<string, { key: WalletKey; amountCents: number }>();
  for (const { key, amountCents } of amounts) {
    const name = keyText(key);
    pools.set(name, { key, amountCents: (pools.get(name)?.amountCents ?? 0) + amountCents });
  }
  return [...pools.values()].filter(({ amountCents }) => amountCents > 0).sort((a, b) => b.amountCents - a.amountCents);
}
