import type { Temporal } from 'temporal-polyfill';
import { localDate } from '../../../engine/calendar/local-day.ts';
import type { Context } from '../../../platform/context.ts';
import type {
  BillingEntityId,
  CreditNoteId,
  CustomerId,
  InvoiceId,
  WalletId,
  WalletTransactionId,
} from '../../../platform/ids.ts';
import { type LedgerLine, post } from './postings.ts';

/** A wallet as the journal names it; structural: a wallet's row can be passed. */
export interface BookedWallet {
  id: WalletId;
  billing_entity_id: BillingEntityId;
  customer_id: CustomerId;
  currency: string;
}

/**
 * Books a movement of a wallet's credits. The document is the invoice where one is named, else there is none and the
 * day of booking stands for its date. Rules: ledger.md#journal (5), ledger.md#l3, ledger.md#l6, ledger.md#l7,
 * ledger.md#l8, ledger.md#l9, ledger.md#l10.
 */
export async function bookOnWallet(
  ctx: Context,
  rule: string,
  wallet: BookedWallet,
  booked: {
    source: { type: 'WalletTransaction' | 'Wallet' | 'Invoice' | 'CreditNote'; id: string };
    walletTransactionId?: WalletTransactionId;
    creditNoteId?: CreditNoteId;
    invoice?: { id: InvoiceId; issuing_date: Temporal.PlainDate };
    lines: readonly LedgerLine[];
  },
): Promise<void> {
  const { db, organizationId } = ctx;
  const [entity] = await db<{ timezone: string }[]>`
    select timezone from billing_entities
    where organization_id = ${organizationId} and id = ${wallet.billing_entity_id}`;
  const bookedOn = localDate(ctx.now(), entity!.timezone);
  await post(ctx, {
    rule,
    source: booked.source,
    currency: wallet.currency,
    billingEntityId: wallet.billing_entity_id,
    bookedAt: ctx.now(),
    bookedOn,
    documentDate: booked.invoice?.issuing_date ?? bookedOn,
    customerId: wallet.customer_id,
    invoiceId: booked.invoice?.id ?? null,
    ...(booked.creditNoteId === undefined ? {} : { creditNoteId: booked.creditNoteId }),
    walletId: wallet.id,
    walletTransactionId: booked.walletTransactionId ?? null,
    lines: booked.lines,
  });
}
