import { type Cents, cents, roundToCents, sumCents } from '../money/cents.ts';
import { Decimal, decimal, max, sum, ZERO } from '../money/decimal.ts';

/** Facts that decide which wallets may pay a fee. */
export interface WalletKey {
  feeType: string;
  billableMetricId: string | null;
  /** The wallet named by its events. */
  targetWalletCode: string | null;
}

export interface PayableFee {
  walletKey: WalletKey;
  amountCents: Cents;
  preciseCouponsAmountCents: Decimal;
  taxesPreciseAmountCents: Decimal;
  preciseCreditNotesAmountCents: Decimal;
}

/** Limits of a wallet; without both lists it may pay everything. */
export interface WalletLimits {
  code: string;
  feeTypes: readonly string[];
  billableMetricIds: readonly string[];
}

export interface PayingWallet extends WalletLimits {
  id: string;
  balanceCents: Cents;
}

export interface WalletPayment {
  walletId: string;
  amountCents: Cents;
}

/**
 * Whether a wallet may pay fees with a key: a wallet named by events pays alone, else one without limits or whose fee
 * types or metrics include the key's. Rule: wallets.md#paying-an-invoice (3).
 */
export function mayPay({ code, feeTypes, billableMetricIds }: WalletLimits, key: WalletKey): boolean {
  if (key.targetWalletCode !== null) return key.targetWalletCode === code;
  if (feeTypes.length === 0 && billableMetricIds.length === 0) return true;
  return (
    feeTypes.includes(key.feeType) ||
    (key.billableMetricId !== null && billableMetricIds.includes(key.billableMetricId))
  );
}

/**
 * What each wallet pays of an invoice, in the order of the wallets.
 *
 * fees with their taxes and the amounts subtracted
 * totalCents the total less credit notes
 * wallets     active ones of the invoice's currency, first payer first
 * → payments > 0, which never exceed the total, nor a wallet's balance
 *
 * Fees are pooled by key, the greatest pool first; a rounding difference to the total goes to the greatest. Rule:
 * wallets.md#paying-an-invoice.
 */
export function payWithWallets(input: {
  fees: readonly PayableFee[];
  totalCents: Cents;
  wallets: readonly PayingWallet[];
}): WalletPayment[] {
  const { fees, totalCents, wallets } = input;
  const pools = withRoundings(poolsOf(fees), totalCents);
  const payments: WalletPayment[] = [];
  for (const wallet of wallets) {
    const left = totalCents - sumCents(payments.map(({ amountCents }) => amountCents));
    const most = Math.min(left, wallet.balanceCents);
    let taken: Decimal = ZERO;
    for (const pool of pools) {
      if (!mayPay(wallet, pool.key)) continue;
      const take = Decimal.min(pool.rest, decimal(most).minus(taken));
      pool.rest = pool.rest.minus(take);
      taken = taken.plus(take);
    }
    const amountCents = cents(Math.min(roundToCents(taken), most));
    if (amountCents > 0) payments.push({ walletId: wallet.id, amountCents });
  }
  return payments;
}

interface Pool {
  key: WalletKey;
  rest: Decimal;
}

function poolsOf(fees: readonly PayableFee[]): Pool[] {
  const pools = new Map<string, Pool>();
  for (const fee of fees) {
    const base = decimal(fee.amountCents).minus(fee.preciseCouponsAmountCents);
    const cap = base.plus(fee.taxesPreciseAmountCents).minus(fee.preciseCreditNotesAmountCents);
    if (base.isZero() && cap.lte(0)) continue;
    const name = keyText(fee.walletKey);
    const pool = pools.get(name);
    if (pool) pool.rest = pool.rest.plus(cap);
    else pools.set(name, { key: fee.walletKey, rest: cap });
  }
  return [...pools.values()]
    .map((pool) => ({ ...pool, rest: max(pool.rest, ZERO) }))
    .sort((a, b) => b.rest.cmp(a.rest));
}

function withRoundings(pools: Pool[], totalCents: Cents): Pool[] {
  const difference = decimal(totalCents).minus(sum(pools.map(({ rest }) => rest)));
  const [greatest] = pools;
  if (greatest && difference.gt(0) && difference.lte(pools.length)) greatest.rest = greatest.rest.plus(difference);
  return pools;
}

/** Text of a key. */
export const keyText = ({ feeType, billableMetricId, targetWalletCode }: WalletKey): string =>
  JSON.stringify([feeType, billableMetricId, targetWalletCode]);
