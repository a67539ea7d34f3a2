import type { Instant, PlainDate } from '../../../engine/calendar/instants.ts';
import { draftNumber } from '../../../engine/invoices/invoice-number.ts';
import type { InvoiceType } from '../../../engine/invoices/invoice-types.ts';
import {
  dateSettings,
  datesAtCreation,
  graceDays,
  type InvoiceDates,
} from '../../../engine/invoices/issuing-and-due-dates.ts';
import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { InvoiceId } from '../../../platform/ids.ts';
import type { IssuerFacts, PayerFacts } from './payer-and-issuer.ts';

export interface InvoiceHead {
  id: InvoiceId;
  payer: PayerFacts;
  issuer: IssuerFacts;
  /** Time zone in which its lines are billed: the customer's, unless it replaces an older invoice. */
  zone?: string;
  /** `subscription`, unless another type is given. */
  invoiceType?: InvoiceType;
  currency: string;
  purchaseOrderNumber: string | null;
  /** What its electronic document names for the buyer; that of its subscriptions unless given. */
  buyerReference?: string | null;
  /** Local date of the billing instant. */
  billedOn: PlainDate;
  isRecurring?: boolean;
  isInAdvanceCharge?: boolean;
  /** Final at once, whatever the customer's grace period. */
  skipsGracePeriod?: boolean;
  skipsUsage?: boolean;
  /** Whether the customer issues it: partners do. */
  selfBilled?: boolean;
  createdAt?: Instant;
}

/**
 * Stores an invoice that is about to be computed, with its dates and a draft's number; it is invisible until its
 * transaction ends. The statement has been sent when this returns, so rows that refer to the invoice may follow at
 * once.
 *
 * @returns its dates, and the days that it stays a draft
 * Rules: invoices.md#statuses, invoices.md#dates, invoices.md#numbers.
 */
export async function openInvoice(
  ctx: Context,
  head: InvoiceHead,
): Promise<{ dates: InvoiceDates; graceDays: number }> {
  const { payer, issuer, invoiceType = 'subscription' } = head;
  const settings = dateSettings(payer, issuer);
  const dated = {
    invoiceType,
    isRecurring: head.isRecurring ?? false,
    isInAdvanceCharge: head.isInAdvanceCharge ?? false,
    settings: head.skipsGracePeriod ? { ...settings, invoice_grace_period: 0 } : settings,
  };
  const dates = datesAtCreation(dated, head.billedOn);
  const createdAt = head.createdAt ?? ctx.now();
  await ctx.db`
    insert into invoices (id, organization_id, billing_entity_id, customer_id, invoice_type, status, self_billed,
      skip_usage, number, currency, timezone, issuing_date, expected_finalization_date, payment_due_date,
      net_payment_term, purchase_order_number, buyer_reference, created_at, updated_at)
    values (${head.id}, ${ctx.organizationId}, ${issuer.id}, ${payer.id}, ${invoiceType}, 'generating',
      ${head.selfBilled ?? payer.account_type === 'partner'}, ${head.skipsUsage ?? false},
      ${draftNumber(issuer.document_number_prefix)}, ${head.currency}, ${head.zone ?? payer.zone}, ${dates.issuingDate},
      ${dates.expectedFinalizationDate}, ${dates.paymentDueDate}, ${dates.netPaymentTerm}, ${head.purchaseOrderNumber},
      ${head.buyerReference ?? null},
      ${createdAt}, ${createdAt})`.execute();
  return { dates, graceDays: graceDays(dated) };
}

/** Deletes an invoice that has nothing to bill. */
export const removeInvoice = ({ db, organizationId }: Scope, id: InvoiceId) => db`
  delete from invoices where organization_id = ${organizationId} and id = ${id}`;
