import type { PaymentStatus } from '../../../engine/invoices/invoice-states.ts';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { AppliedCouponId, InvoiceId } from '../../../platform/ids.ts';

/** What took money off an invoice: a coupon, the usage that a progressive invoice had billed, or a credit note. */
export interface CreditRow {
  id: string;
  amount_cents: number;
  amount_currency: string;
  before_taxes: boolean;
  item_type: 'coupon' | 'credit_note' | 'invoice';
  item_id: string;
  item_code: string;
  item_name: string;
  item_description: string | null;
  /** A progressive invoice that was credited; else the invoice that the credit is on. */
  invoice_id: InvoiceId;
  payment_status: PaymentStatus;
}

const columns = (db: Db) => db`
  credit.id, credit.amount_cents, credit.amount_currency, credit.before_taxes,
  case when coupon.id is not null then 'coupon' when note.id is not null
    then 'credit_note' else 'invoice' end as item_type,
  coalesce(coupon.id, note.id, progressive.id) as item_id,
  coalesce(coupon.code, note.number, progressive.number) as item_code,
  coalesce(coupon.name, noted.number, progressive.number) as item_name, coupon.description as item_description,
  coalesce(progressive.id, invoice.id) as invoice_id,
  coalesce(progressive.payment_status, invoice.payment_status) as payment_status`;

const joined = (db: Db) => db`
  credits credit
  join invoices invoice on invoice.organization_id = credit.organization_id and invoice.id = credit.invoice_id
  left join invoices progressive on progressive.organization_id = credit.organization_id
    and progressive.id = credit.progressive_billing_invoice_id
  left join applied_coupons applied on applied.organization_id = credit.organization_id
    and applied.id = credit.applied_coupon_id
  left join coupons coupon on coupon.organization_id = applied.organization_id and coupon.id = applied.coupon_id
  left join credit_notes note on note.organization_id = credit.organization_id and note.id = credit.credit_note_id
  left join invoices noted on noted.organization_id = note.organization_id and noted.id = note.invoice_id`;

/** Credits of an invoice in the order in which they were taken off. */
export const listCreditsOfInvoice = ({ db, organizationId }: Scope, invoiceId: InvoiceId) => db<CreditRow[]>`
  select ${columns(db)} from ${joined(db)}
  where credit.organization_id = ${organizationId} and credit.invoice_id = ${invoiceId}
  order by credit.id`;

/** What some applied coupons took off, oldest first; invoices that are not shown are left out. */
export const listCreditsOfCoupons = ({ db, organizationId }: Scope, appliedCouponIds: readonly AppliedCouponId[]) => db<
  (CreditRow & { applied_coupon_id: AppliedCouponId })[]
>`
  select ${columns(db)}, credit.applied_coupon_id from ${joined(db)}
  where credit.organization_id = ${organizationId}
    and credit.applied_coupon_id = any (${appliedCouponIds}::uuid[])
    and invoice.status not in ('closed', 'deleted')
  order by credit.id`;

/** A credit as the API shows it. Rule: invoice-operations.md#payload "credits". */
export const creditView = (credit: CreditRow) => ({
  svc_id: credit.id,
  amount_cents: credit.amount_cents,
  amount_currency: credit.amount_currency,
  before_taxes: credit.before_taxes,
  item: {
    svc_item_id: credit.item_id,
    type: credit.item_type,
    code: credit.item_code,
    name: credit.item_name,
    description: credit.item_description,
  },
  invoice: { svc_id: credit.invoice_id, payment_status: credit.payment_status },
});
