import { creditsOfMoney, voidedCredits } from '../../../engine/credits/wallet-money.ts';
import { cents } from '../../../engine/money/cents.ts';
import { decimal } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import { refuse } from '../../../platform/refusal.ts';
import { refuseFaults } from '../../../platform/schema/faults.ts';
import { type Moved, voidCredits, worthOf } from '../../credits/wallet-transactions/movements.ts';
import { getTransaction, type TransactionRow } from '../../credits/wallet-transactions/queries.ts';
import type { TransactionCreate } from '../../credits/wallet-transactions/schema.ts';
import { transactionView } from '../../credits/wallet-transactions/view.ts';
import type { TransactionWishes } from '../../credits/wallet-transactions/writes.ts';
import { creditFaults, methodFaults } from '../../credits/wallets/faults-of-fields.ts';
import { lockWallet, type WalletRow } from '../../credits/wallets/queries.ts';
import { topUp } from './top-up.ts';

/**
 * Buys, grants and voids credits of a wallet, as far as the request asks for each; one transaction a part, in this
 * order.
 *
 * @throws Refusal 422 wallet_id, paid_credits, granted_credits, voided_credits, voided_transaction_id, amount_cents
 * Rule: wallets.md#transactions.
 */
export async function createWalletTransaction(ctx: Context, { body }: { body: TransactionCreate }) {
  const wallet = await lockWallet(ctx, { id: body.wallet_id });
  if (!wallet) throw refuse.invalid({ wallet_id: ['wallet_not_found'] });
  if (wallet.status === 'terminated') throw refuse.invalid({ wallet_id: ['wallet_is_terminated'] });
  const limits = {
    ...worthOf(wallet),
    min: wallet.paid_top_up_min_amount_cents,
    max: wallet.paid_top_up_max_amount_cents,
  };
  const source = await voidedSource(ctx, wallet, body);
  const voided = decimal(body.voided_credits ?? 0);
  const faults = {
    ...creditFaults('paid_credits', body.paid_credits, {
      limits,
      ignoresLimits: body.ignore_paid_top_up_limits ?? false,
    }),
    ...creditFaults('granted_credits', body.granted_credits, {
      limits: { ...limits, min: null, max: null },
      ignoresLimits: true,
    }),
    ...(await methodFaults(ctx, wallet.customer_id, body.payment_method)),
    ...(voided.gt(wallet.credits_balance) ? { voided_credits: ['insufficient_credits'] } : {}),
  };
  refuseFaults(faults);

  const wishes: TransactionWishes = {
    ...(body.priority === undefined ? {} : { priority: body.priority }),
    name: body.name ?? null,
    metadata: body.metadata,
    ...(body.invoice_requires_successful_payment == null
      ? {}
      : { invoice_requires_successful_payment: body.invoice_requires_successful_payment }),
    ...methodOf(body.payment_method ?? wallet),
    purchase_order_number: body.purchase_order_number?.trim() || null,
    sections: body.invoice_custom_section,
  };
  const made = await topUp(
    ctx,
    wallet,
    { paidCredits: decimal(body.paid_credits ?? 0), grantedCredits: decimal(body.granted_credits ?? 0) },
    wishes,
  );
  const taken = await takeAway(ctx, made.at(-1)?.wallet ?? wallet, { voided, source, wishes });
  return {
    wallet_transactions: [...made, ...(taken ? [taken] : [])].map(({ transaction }) => transactionView(transaction)),
  };
}

const methodOf = (method: NonNullable<TransactionCreate['payment_method']> | WalletRow) => ({
  payment_method_type: method.payment_method_type ?? null,
  payment_method_id: method.payment_method_id ?? null,
});

/** The credits that a void names. */
async function voidedSource(
  ctx: Context,
  wallet: WalletRow,
  { voided_transaction_id: id }: TransactionCreate,
): Promise<TransactionRow | undefined> {
  if (!id) return undefined;
  const source = await getTransaction(ctx, id).catch(() => undefined);
  if (source?.wallet_id !== wallet.id || source.transaction_type !== 'inbound')
    throw refuse.invalid({ voided_transaction_id: ['wallet_transaction_not_found'] });
  if (!source.remaining_amount_cents) throw refuse.invalid({ voided_transaction_id: ['no_remaining_amount'] });
  return source;
}

/** Without an amount all that is left of the named credits. */
async function takeAway(
  ctx: Context,
  wallet: WalletRow,
  asked: { voided: ReturnType<typeof decimal>; source: TransactionRow | undefined; wishes: TransactionWishes },
): Promise<Moved | undefined> {
  const { voided, source, wishes } = asked;
  if (voided.isZero() && !source) return undefined;
  const booked = voided.isZero()
    ? creditsOfMoney(cents(source!.remaining_amount_cents!), worthOf(wallet))
    : voidedCredits(voided, worthOf(wallet));
  if (booked.credits.isZero()) return undefined;
  return voidCredits(ctx, wallet, booked, { fromId: source?.id ?? null, wishes });
}
