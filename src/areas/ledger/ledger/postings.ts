import type { Temporal } from 'temporal-polyfill';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type {
  BillingEntityId,
  CreditNoteId,
  CustomerId,
  FeeId,
  InvoiceId,
  PaymentId,
  WalletId,
  WalletTransactionId,
} from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';

export type AccountCode =
  | 'receivable'
  | 'cash'
  | 'dispute_losses'
  | 'unrecorded_receipts'
  | 'unapplied_receipts'
  | 'write_offs'
  | 'applied_pending'
  | 'customer_credit'
  | 'partner_credit'
  | 'refunds_payable'
  | 'sales_returns'
  | 'breakage'
  | 'tax_payable'
  | 'revenue.subscription'
  | 'revenue.usage'
  | 'revenue.fixed'
  | 'revenue.commitment'
  | 'revenue.add_on'
  | 'coupons'
  | 'progressive_credit'
  | 'prepaid_pending'
  | 'prepaid_purchased'
  | 'prepaid_granted'
  | 'promotions'
  | 'partner_payable'
  | 'partner_costs'
  | 'tax_recoverable';

/** One line of a posting. Lines of 0 are left out when it is written. */
export interface LedgerLine {
  account: AccountCode;
  side: 'debit' | 'credit';
  amountCents: number;
  taxCode?: string;
  /** The invoice of this line alone, where a posting meets several. */
  invoiceId?: InvoiceId;
}

/** A balanced transaction of the journal and what it books. Rule: ledger.md#journal. */
export interface Posting {
  rule: string;
  source: { type: string; id: string };
  /** Distinguishes several postings of one rule and source. */
  ordinal?: number;
  currency: string;
  billingEntityId: BillingEntityId;
  bookedAt: Temporal.Instant;
  bookedOn: Temporal.PlainDate;
  documentDate: Temporal.PlainDate;
  customerId: CustomerId | null;
  invoiceId: InvoiceId | null;
  creditNoteId?: CreditNoteId;
  /** The fee on no invoice whose money moves. */
  feeId?: FeeId;
  /** The payment whose money moves, and the connection through which it came. */
  payment?: { id: PaymentId; providerId: string | null };
  /** The wallet whose credits move, and by which transaction of it. */
  walletId?: WalletId;
  walletTransactionId?: WalletTransactionId | null;
  lines: readonly LedgerLine[];
}

/**
 * Writes a posting with its lines in the caller's transaction, after all other locks; a posting is never written twice.
 * The database refuses one that does not balance.
 *
 * Rules: ledger.md#journal (1 to 3), ledger.md#storage.
 */
export async function post({ db, organizationId }: Scope, posting: Posting): Promise<void> {
  const lines = posting.lines.filter(({ amountCents }) => amountCents !== 0);
  if (lines.length === 0) return;
  const rows = lines.map((line) => ({
    id: newId(),
    account_code: line.account,
    side: line.side,
    amount_cents: line.amountCents,
    tax_code: line.taxCode ?? null,
    invoice_id: line.invoiceId ?? posting.invoiceId,
  }));
  await db`
    with booked as (
      insert into ledger_transactions (id, organization_id, rule, source_type, source_id, ordinal, currency, booked_at,
        booked_on, document_date, created_at)
      values (${newId()}, ${organizationId}, ${posting.rule}, ${posting.source.type}, ${posting.source.id},
        ${posting.ordinal ?? 0}, ${posting.currency}, ${posting.bookedAt}, ${posting.bookedOn},
        ${posting.documentDate}, ${posting.bookedAt})
      on conflict (organization_id, rule, source_type, source_id, ordinal) do nothing
      returning id
    ), waiting as (
      insert into ledger_tail (organization_id, transaction_id) select ${organizationId}::uuid, booked.id from booked
    ), stored as (
      insert into ledger_entries (id, organization_id, transaction_id, billing_entity_id, account_code, currency, side,
        amount_cents, booked_on, customer_id, invoice_id, credit_note_id, tax_code, payment_id, payment_provider_id,
        wallet_id, wallet_transaction_id, fee_id)
      select line.id, ${organizationId}::uuid, booked.id, ${posting.billingEntityId}::uuid, line.account_code,
        ${posting.currency}, line.side, line.amount_cents, ${posting.bookedOn}, ${posting.customerId}::uuid,
        line.invoice_id, ${posting.creditNoteId ?? null}::uuid, line.tax_code, ${posting.payment?.id ?? null}::uuid,
        ${posting.payment?.providerId ?? null}::uuid, ${posting.walletId ?? null}::uuid,
        ${posting.walletTransactionId ?? null}::uuid,
        ${posting.feeId ?? null}::uuid
      from booked
      cross join jsonb_to_recordset(${json(rows)}::jsonb) as line (id uuid, account_code text, side text,
        amount_cents bigint, tax_code text, invoice_id uuid)
      returning true
    )
    select count(*) from stored`;
}
