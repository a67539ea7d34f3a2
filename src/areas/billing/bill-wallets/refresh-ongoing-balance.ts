import { isAfter } from '../../../engine/calendar/instants.ts';
import { creditsOfMoney } from '../../../engine/credits/wallet-money.ts';
import { isBelowThreshold, type TopUpRule, type TopUpState, topUpOf } from '../../../engine/credits/wallet-top-up.ts';
import { spreadUsage } from '../../../engine/credits/wallet-usage.ts';
import { AmountOutOfRange, type Cents, subtractCents } from '../../../engine/money/cents.ts';
import type { Context } from '../../../platform/context.ts';
import type { CustomerId } from '../../../platform/ids.ts';
import { evaluateWalletAlerts } from '../../credits/evaluate-alerts/wallet-alerts.ts';
import { followDays } from '../../credits/wallet-days/follow-days.ts';
import { forgetSettled, listAwaiting } from '../../credits/wallet-holds/writes.ts';
import { worthOf } from '../../credits/wallet-transactions/movements.ts';
import { tellDepleted } from '../../credits/wallets/announce.ts';
import { listActiveWallets, readWallet, type WalletRow } from '../../credits/wallets/queries.ts';
import { listRules, type RuleRow } from '../../credits/wallets/top-up-rule-queries.ts';
import { isInForce } from '../../credits/wallets/view.ts';
import { hasTaxError } from '../../customers/customers/tax-errors.ts';
import { dropWalletMarks, listWalletMarks } from '../../usage/wallet-marks/wallet-marks.ts';
import { lockPayer } from '../build-invoice/payer-and-issuer.ts';
import { countAutomatic, readPurchases, storeOngoing } from './ongoing-balance-queries.ts';
import { topUp } from './top-up.ts';
import { usageOfCustomer } from './usage-of-customer.ts';

/** Automatic purchases pause this long after one failed. */
const PAUSE_HOURS = 1;
/** Automatic purchases in ten minutes from which on the log warns the operator. */
const MANY_PURCHASES = 3;
const MANY_WITHIN_MINUTES = 10;

/**
 * Works off the marks of a customer. Marks set meanwhile stay for the next run; without marks it does nothing.
 * Rule: periodic-jobs.md#wallet-ongoing.
 */
export async function workOffMarks(ctx: Context, customerId: CustomerId): Promise<void> {
  const marks = await listWalletMarks(ctx, customerId);
  if (marks.length === 0) return;
  await refreshWallets(ctx, customerId);
  await dropWalletMarks(
    ctx,
    marks.map(({ id }) => id),
  );
}

/** Step `refresh-wallets`: runs after the pause of a failed purchase, and when an invoice took credits. */
export const refreshWalletsStep = (ctx: Context, { customer_id }: { customer_id: CustomerId }): Promise<void> =>
  refreshWallets(ctx, customer_id);

/**
 * Computes the ongoing balances of a customer's wallets, from which unpaid usage is subtracted; then threshold rules
 * act and alerts on ongoing balances are evaluated. While the taxes of an invoice are unknown nothing happens: what
 * ends that marks the wallets.
 *
 * Rules: top-ups.md#recurring-rules "threshold", top-ups.md#ongoing-balance, alerts.md#evaluation.
 */
async function refreshWallets(ctx: Context, customerId: CustomerId): Promise<void> {
  try {
    await refresh(ctx, customerId);
  } catch (error) {
    // Usage that overflows an amount would fail every time; the invoice reports it.
    if (!(error instanceof AmountOutOfRange)) throw error;
    ctx.log.warn({ customerId, err: error }, 'ongoing balances not worked out');
  }
}

async function refresh(ctx: Context, customerId: CustomerId): Promise<void> {
  const payer = await lockPayer(ctx, customerId);
  const wallets = await listActiveWallets(ctx, customerId);
  if (wallets.length === 0 || (await hasTaxError(ctx, customerId))) return;
  const rules = await listRules(
    ctx,
    wallets.map(({ id }) => id),
  );
  const ruleOf = (wallet: WalletRow) =>
    rules.find((rule) => rule.wallet_id === wallet.id && isInForce(rule, ctx.now()));
  // Locked before the usage is read, because the usage may not contain holds that are settled meanwhile.
  const settled = await listAwaiting(ctx, customerId);
  const amounts = await usageOfCustomer(ctx, payer);
  for (const currency of new Set(wallets.map((wallet) => wallet.currency))) {
    const own = wallets.filter((wallet) => wallet.currency === currency);
    const spread = spreadUsage(
      amounts.filter((amount) => amount.currency === currency),
      own.map((wallet) => ({
        id: wallet.id,
        code: wallet.code,
        balanceCents: wallet.balance_cents,
        feeTypes: wallet.allowed_fee_types,
        billableMetricIds: wallet.billable_metric_ids,
        isRefilled: ruleOf(wallet)?.trigger === 'threshold',
      })),
    );
    for (const wallet of own) await follow(ctx, wallet, spread.get(wallet.id)!, ruleOf(wallet));
  }
  await forgetSettled(ctx, settled);
}

async function follow(ctx: Context, wallet: WalletRow, usageCents: Cents, rule: RuleRow | undefined): Promise<void> {
  const balanceCents = subtractCents(wallet.balance_cents, usageCents);
  const isDepleted = balanceCents <= 0;
  const balanceCredits = creditsOfMoney(balanceCents, worthOf(wallet)).credits;
  const isSame =
    wallet.ongoing_balance_cents === balanceCents &&
    wallet.ongoing_usage_balance_cents === usageCents &&
    wallet.credits_ongoing_balance.eq(balanceCredits) &&
    wallet.depleted_ongoing_balance === isDepleted;
  if (!isSame)
    await storeOngoing(
      ctx,
      {
        id: wallet.id,
        usageCents,
        usageCredits: creditsOfMoney(usageCents, worthOf(wallet)).credits,
        balanceCents,
        balanceCredits,
        isDepleted,
      },
      ctx.now(),
    );
  const changed = isSame ? wallet : await readWallet(ctx, wallet.id);
  if (!isSame) await followDays(ctx, changed, 0);
  if (isDepleted && !wallet.depleted_ongoing_balance) await tellDepleted(ctx, changed);
  await evaluateWalletAlerts(ctx, changed, 'ongoing');
  if (rule?.trigger === 'threshold') await actOnThreshold(ctx, changed, rule);
}

/** Rule: top-ups.md#recurring-rules "threshold". */
async function actOnThreshold(ctx: Context, wallet: WalletRow, row: RuleRow): Promise<void> {
  const purchases = await readPurchases(ctx, wallet.id);
  const rule = ruleOf(row);
  const state = stateOf(wallet, purchases.pending_credits);
  if (!isBelowThreshold(rule, state)) return;
  const credits = topUpOf(rule, state);
  const { failed_at: failedAt, settled_at: settledAt } = purchases;
  const isPaused =
    failedAt !== null &&
    isAfter(failedAt.add({ hours: PAUSE_HOURS }), ctx.now()) &&
    !(settledAt !== null && isAfter(settledAt, failedAt));
  if (isPaused && !credits.paidCredits.isZero()) return;
  await topUp(ctx, wallet, credits, wishesOf(row, 'threshold'));
  if (credits.paidCredits.isZero()) return;
  const since = ctx.now().subtract({ minutes: MANY_WITHIN_MINUTES });
  const count = await countAutomatic(ctx, wallet.id, since);
  if (count >= MANY_PURCHASES) ctx.log.warn({ walletId: wallet.id, count }, 'many automatic top-ups of one wallet');
}

/** A stored rule in the form that the engine takes. */
export const ruleOf = (row: RuleRow): TopUpRule => ({
  trigger: row.trigger,
  method: row.method,
  thresholdCredits: row.threshold_credits,
  paidCredits: row.paid_credits,
  grantedCredits: row.granted_credits,
  targetOngoingBalance: row.target_ongoing_balance,
  grantsTargetTopUp: row.grants_target_top_up,
  ignoresLimits: row.ignore_paid_top_up_limits,
});

export const stateOf = (wallet: WalletRow, pendingCredits: TopUpState['pendingCredits']): TopUpState => ({
  ...worthOf(wallet),
  ongoingCredits: wallet.credits_ongoing_balance,
  pendingCredits,
  minAmountCents: wallet.paid_top_up_min_amount_cents,
  maxAmountCents: wallet.paid_top_up_max_amount_cents,
});

/** What a rule sets on its transactions. */
export const wishesOf = (row: RuleRow, source: 'interval' | 'threshold') => ({
  source,
  name: row.transaction_name,
  metadata: row.transaction_metadata,
  invoice_requires_successful_payment: row.invoice_requires_successful_payment,
  payment_method_type: row.payment_method_type,
  payment_method_id: row.payment_method_id,
  purchase_order_number: row.purchase_order_number,
  ...(row.skip_invoice_custom_sections === null && row.custom_sections.length === 0
    ? {}
    : {
        sections: {
          skip_invoice_custom_sections: row.skip_invoice_custom_sections,
          invoice_custom_section_codes: row.custom_sections.map(({ code }) => code),
        },
      }),
});
