import { type Cents, cents } from '../../../engine/money/cents.ts';
import type { Context } from '../../../platform/context.ts';
import type { InvoiceRow } from '../../invoices/invoices/queries.ts';
import { bookOnWallet } from '../../ledger/ledger/book-on-wallet.ts';
import { addToBalance } from '../wallets/change-balance.ts';
import { lockWallet, type WalletRow } from '../wallets/queries.ts';
import { recordTransaction } from './announce.ts';
import { listTakenByInvoice, type TransactionRow } from './queries.ts';
import { insertTransaction } from './writes.ts';

/**
 * Gives the credits back that an invoice took, now that it is voided: once, and to active wallets only. What was bought
 * comes back as bought, though it shows as granted.
 *
 * Rules: wallets.md#void-recredit-terminate, credit-notes.md#voided-invoices, ledger.md#journal (9), ledger.md#l19 (a).
 */
export async function recreditWallets(ctx: Context, invoice: InvoiceRow): Promise<void> {
  for (const taken of await listTakenByInvoice(ctx, invoice.id)) {
    const wallet = await lockWallet(ctx, { id: taken.wallet_id });
    if (wallet?.status === 'active' && taken.amount_cents > 0) await giveBack(ctx, wallet, { taken, invoice });
  }
}

/**
 * Gives the credits back that an open invoice took, now that it is closed unpaid; those of wallets that ended are lost.
 * Rules: activation-rules.md, ledger.md#l5.
 */
export async function releaseCredits(ctx: Context, invoice: InvoiceRow): Promise<void> {
  for (const taken of await listTakenByInvoice(ctx, invoice.id)) {
    const wallet = await lockWallet(ctx, { id: taken.wallet_id });
    if (!wallet || taken.amount_cents === 0) continue;
    if (wallet.status === 'active') await giveBack(ctx, wallet, { taken, invoice, rule: 'open_invoice_closed' });
    else {
      const purchasedCents = await purchasedPartOf(ctx, taken.id);
      await bookOnWallet(ctx, 'open_invoice_closed', wallet, {
        source: { type: 'WalletTransaction', id: taken.id },
        walletTransactionId: taken.id,
        invoice,
        lines: [
          { account: 'applied_pending', side: 'debit', amountCents: taken.amount_cents },
          { account: 'breakage', side: 'credit', amountCents: purchasedCents },
          { account: 'promotions', side: 'credit', amountCents: taken.amount_cents - purchasedCents },
        ],
      });
    }
  }
}

async function giveBack(
  ctx: Context,
  wallet: WalletRow,
  {
    taken,
    invoice,
    rule = 'invoice_voided',
  }: { taken: TransactionRow; invoice: InvoiceRow; rule?: 'invoice_voided' | 'open_invoice_closed' },
): Promise<void> {
  const booked = { credits: taken.credit_amount, amount: taken.amount, amountCents: taken.amount_cents };
  const purchasedCents = await purchasedPartOf(ctx, taken.id);
  const id = await insertTransaction(ctx, {
    wallet,
    booked,
    transaction_status: 'granted',
    purchasedCents,
    voided_invoice_id: invoice.id,
  });
  await bookOnWallet(ctx, rule, wallet, {
    source: { type: 'WalletTransaction', id },
    walletTransactionId: id,
    invoice,
    lines: [
      {
        account: rule === 'invoice_voided' ? 'receivable' : 'applied_pending',
        side: 'debit',
        amountCents: booked.amountCents,
      },
      { account: 'prepaid_purchased', side: 'credit', amountCents: purchasedCents },
      { account: 'prepaid_granted', side: 'credit', amountCents: booked.amountCents - purchasedCents },
    ],
  });
  const changed = await addToBalance(ctx, wallet, booked, { resetsConsumed: true });
  await recordTransaction(ctx, 'wallet_transaction.created', { id, wallet: changed });
}

async function purchasedPartOf(ctx: Context, outboundId: string): Promise<Cents> {
  const [row] = await ctx.db<{ purchased: number }[]>`
    select coalesce(sum(consumed_purchased_cents), 0)::bigint as purchased from wallet_transaction_consumptions
    where organization_id = ${ctx.organizationId} and outbound_wallet_transaction_id = ${outboundId}`;
  return cents(row!.purchased);
}
