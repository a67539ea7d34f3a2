import type { Temporal } from 'temporal-polyfill';
import type { Consumption } from '../../../engine/credits/wallet-funding.ts';
import type { BookedCredits } from '../../../engine/credits/wallet-money.ts';
import type { Cents } from '../../../engine/money/cents.ts';
import type { Context } from '../../../platform/context.ts';
import { json } from '../../../platform/db/values.ts';
import type {
  CreditNoteId,
  CustomerId,
  InvoiceId,
  PaymentMethodId,
  WalletId,
  WalletTransactionId,
} from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { chooseSections } from '../../customers/invoice-custom-sections/choose-sections.ts';
import type { SectionChoice } from '../../customers/invoice-custom-sections/schema.ts';
import type { MetadataPair } from '../wallets/top-up-rule-queries.ts';
import type { TransactionRow } from './queries.ts';

/** Fields that a request sets on a transaction; absent ones have their defaults. */
export interface TransactionWishes {
  source?: TransactionRow['source'];
  priority?: number;
  name?: string | null;
  metadata?: readonly MetadataPair[];
  invoice_requires_successful_payment?: boolean;
  payment_method_type?: 'provider' | 'manual' | null;
  payment_method_id?: PaymentMethodId | null;
  purchase_order_number?: string | null;
  /** The custom sections of its invoice; absent, the wallet decides. */
  sections?: SectionChoice;
  /** The local day that a top-up of an interval rule is for. */
  top_up_on?: Temporal.PlainDate | null;
}

export interface NewTransaction extends TransactionWishes {
  wallet: { id: WalletId; customer_id: CustomerId };
  booked: BookedCredits;
  transaction_status: TransactionRow['transaction_status'];
  /** The part of a settled inbound transaction that was bought. */
  purchasedCents?: Cents;
  isPending?: boolean;
  invoice_id?: InvoiceId;
  credit_note_id?: CreditNoteId;
  voided_invoice_id?: InvoiceId;
}

const PRIORITY_DEFAULT = 50;

/** Stores a transaction, settled unless it waits for money. @returns its id */
export async function insertTransaction(ctx: Context, made: NewTransaction): Promise<string> {
  const id = newId();
  const isInbound = made.transaction_status === 'purchased' || made.transaction_status === 'granted';
  const isOpen = isInbound && !made.isPending;
  const settledAt = made.isPending ? null : ctx.now();
  await ctx.db`
    insert into wallet_transactions (id, organization_id, wallet_id, customer_id, transaction_type, status,
      transaction_status, source, amount_cents, amount, credit_amount, priority, name, metadata, remaining_amount_cents,
      remaining_purchased_cents, invoice_id, credit_note_id, voided_invoice_id, invoice_requires_successful_payment,
      payment_method_type, payment_method_id, purchase_order_number, top_up_on, settled_at, created_at, updated_at)
    values (${id}, ${ctx.organizationId}, ${made.wallet.id}, ${made.wallet.customer_id},
      ${isInbound ? 'inbound' : 'outbound'}, ${made.isPending ? 'pending' : 'settled'}, ${made.transaction_status},
      ${made.source ?? 'manual'}, ${made.booked.amountCents}, ${made.booked.amount}, ${made.booked.credits},
      ${made.priority ?? PRIORITY_DEFAULT}, ${made.name ?? null}, ${json(made.metadata ?? [])},
      ${isOpen ? made.booked.amountCents : null}, ${isOpen ? (made.purchasedCents ?? 0) : null},
      ${made.invoice_id ?? null}, ${made.credit_note_id ?? null}, ${made.voided_invoice_id ?? null},
      ${made.invoice_requires_successful_payment ?? false}, ${made.payment_method_type ?? null},
      ${made.payment_method_id ?? null},
      ${made.purchase_order_number ?? null}, ${made.top_up_on ?? null}, ${settledAt}, ${ctx.now()}, ${ctx.now()})`;
  await chooseSections(ctx, { type: 'wallet_transaction', id }, made.sections);
  return id;
}

/** Notes which credits an outbound transaction took, and takes them. */
export async function insertConsumptions(
  ctx: Context,
  outboundId: string,
  consumed: readonly Consumption[],
): Promise<void> {
  if (consumed.length === 0) return;
  const rows = consumed.map(({ id, amountCents, purchasedCents }) => ({
    id: newId(),
    inbound_id: id,
    amount: amountCents,
    purchased: purchasedCents,
  }));
  await ctx.db`
    with row as (
      select * from jsonb_to_recordset(${json(rows)}::jsonb)
        as row (id uuid, inbound_id uuid, amount bigint, purchased bigint)
    ), taken as (
      update wallet_transactions inbound
      set remaining_amount_cents = remaining_amount_cents - row.amount,
        remaining_purchased_cents = remaining_purchased_cents - row.purchased, updated_at = ${ctx.now()}
      from row
      where inbound.organization_id = ${ctx.organizationId} and inbound.id = row.inbound_id
    ), stored as (
      insert into wallet_transaction_consumptions (id, organization_id, inbound_wallet_transaction_id,
        outbound_wallet_transaction_id, consumed_amount_cents, consumed_purchased_cents, created_at)
      select row.id, ${ctx.organizationId}::uuid, row.inbound_id, ${outboundId}::uuid, row.amount, row.purchased,
        ${ctx.now()}
      from row
      returning true
    )
    select count(*) from stored`;
}

/** Ties a purchase to the invoice that asks for its money. */
export const setInvoice = (ctx: Context, id: WalletTransactionId, invoiceId: InvoiceId) => ctx.db`
  update wallet_transactions set invoice_id = ${invoiceId}, updated_at = ${ctx.now()}
  where organization_id = ${ctx.organizationId} and id = ${id}`;

/**
 * Settles a purchase that is not settled yet.
 *
 * @param isUsable whether its credits may be consumed: not those of a wallet that has ended
 * @returns whether it was not settled before
 */
export async function markSettled(ctx: Context, id: WalletTransactionId, isUsable: boolean): Promise<boolean> {
  const { count } = await ctx.db`
    update wallet_transactions set status = 'settled', settled_at = ${ctx.now()}, failed_at = null,
      remaining_amount_cents = ${isUsable ? ctx.db`amount_cents` : 0},
      remaining_purchased_cents = ${isUsable ? ctx.db`amount_cents` : 0}, updated_at = ${ctx.now()}
    where organization_id = ${ctx.organizationId} and id = ${id} and status <> 'settled'`;
  return count === 1;
}

/** @returns whether it was pending */
export async function markFailed(ctx: Context, id: WalletTransactionId): Promise<boolean> {
  const { count } = await ctx.db`
    update wallet_transactions set status = 'failed', failed_at = ${ctx.now()}, updated_at = ${ctx.now()}
    where organization_id = ${ctx.organizationId} and id = ${id} and status = 'pending'`;
  return count === 1;
}
