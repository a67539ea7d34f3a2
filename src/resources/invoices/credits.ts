import type { PaymentStatus } from '../../engine/invoices/invoice-states.ts';
import type { Db } from '../../platform/db/connect.ts';

/** What took money off an invoice: the usage that a progressive invoice had billed. */
export interface CreditRow {
  id: string;
  amount_cents: number;
  amount_currency: string;
  before_taxes: boolean;
  progressive_billing_invoice_id: string;
  number: string;
  payment_status: PaymentStatus;
}

/** Credits of an invoice in the order in which they were taken off. */
export const listCreditsOfInvoice = (db: Db, organizationId: string, invoiceId: string) => db<CreditRow[]>`
  select credit.id, credit.amount_cents, credit.amount_currency, credit.before_taxes,
    credit.progressive_billing_invoice_id, progressive.number, progressive.payment_status
  from credits credit
  join invoices progressive on progressive.organization_id = credit.organization_id
    and progressive.id = credit.progressive_billing_invoice_id
  where credit.organization_id = ${organizationId} and credit.invoice_id = ${invoiceId}
  order by credit.id`;

/** A credit as the API shows it. Rule: subscriptions-and-invoices F.7 "credits". */
export const creditView = (credit: CreditRow) => ({
  svc_id: credit.id,
  amount_cents: credit.amount_cents,
  amount_currency: credit.amount_currency,
  before_taxes: credit.before_taxes,
  item: {
    svc_item_id: credit.progressive_billing_invoice_id,
    type: 'invoice' as const,
    code: credit.number,
    name: credit.number,
    description: null,
  },
  invoice: { svc_id: credit.progressive_billing_invoice_id, payment_status: credit.payment_status },
});
