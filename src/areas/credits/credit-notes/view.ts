import { Temporal } from 'temporal-polyfill';
import { type Decimal, decimal, decimalText } from '../../../engine/money/decimal.ts';
import { present, seconds } from '../../../platform/schema/view.ts';
import type { CustomerRow } from '../../customers/customers/queries.ts';
import { customerWebhookView } from '../../customers/customers/view.ts';
import type { FeeRow } from '../../invoices/fees/queries.ts';
import { feeView } from '../../invoices/fees/view.ts';
import type { CreditNoteItemJson, CreditNoteRow, CreditNoteTaxJson } from './queries.ts';

/** A credit note of a list; its items show the fees that they give back. Rule: credit-notes.md#parts. */
export const creditNoteListView = (note: CreditNoteRow, fees: ReadonlyMap<string, FeeRow>) => ({
  svc_id: note.id,
  billing_entity_code: note.billing_entity_code,
  sequential_id: note.sequential_id,
  number: note.number,
  svc_invoice_id: note.invoice_id,
  invoice_number: note.invoice_number,
  purchase_order_number: note.purchase_order_number,
  issuing_date: note.issuing_date.toString(),
  credit_status: note.credit_status,
  refund_status: note.refund_status,
  reason: note.reason,
  description: note.description,
  currency: note.currency,
  total_amount_cents: note.total_amount_cents,
  precise_total_amount_cents: decimalText(note.precise_total_amount_cents),
  taxes_amount_cents: note.taxes_amount_cents,
  precise_taxes_amount_cents: decimalText(note.precise_taxes_amount_cents),
  taxes_rate: rateOf(note.taxes_rate),
  sub_total_excluding_taxes_amount_cents: note.sub_total_excluding_taxes_amount_cents,
  balance_amount_cents: note.balance_amount_cents,
  credit_amount_cents: note.credit_amount_cents,
  refund_amount_cents: note.refund_amount_cents,
  offset_amount_cents: note.offset_amount_cents,
  coupons_adjustment_amount_cents: note.coupons_adjustment_amount_cents,
  precise_coupons_adjustment_amount_cents: decimalText(note.precise_coupons_adjustment_amount_cents),
  self_billed: note.self_billed,
  file_url: null,
  xml_url: null,
  created_at: seconds(note.created_at),
  updated_at: seconds(note.updated_at),
  items: note.items.map((item) => itemView(item, fees)),
  applied_taxes: note.applied_taxes.map((tax) => taxView(tax, note)),
  error_details: note.error_details,
  ...present({ metadata: note.metadata }),
});

/** A credit note on its own, and in webhooks and logs. */
export const creditNoteView = (note: CreditNoteRow, fees: ReadonlyMap<string, FeeRow>, customer: CustomerRow) => ({
  ...creditNoteListView(note, fees),
  customer: customerWebhookView(customer),
});

export const rateOf = (rate: Decimal): number => rate.toNumber();

// An item whose fee is gone belongs to a draft that no list shows.
const itemView = (item: CreditNoteItemJson, fees: ReadonlyMap<string, FeeRow>) => ({
  svc_id: item.id,
  amount_cents: item.amount_cents,
  precise_amount_cents: decimalText(decimal(item.precise_amount_cents)),
  amount_currency: item.amount_currency,
  fee: item.fee_id === null ? null : feeView(fees.get(item.fee_id)!),
});

const taxView = (tax: CreditNoteTaxJson, note: CreditNoteRow) => ({
  svc_id: tax.id,
  svc_credit_note_id: note.id,
  svc_tax_id: tax.tax_id,
  tax_name: tax.tax_name,
  tax_code: tax.tax_code,
  tax_rate: tax.tax_rate,
  tax_description: tax.tax_description,
  base_amount_cents: tax.base_amount_cents,
  amount_cents: tax.amount_cents,
  amount_currency: tax.amount_currency,
  created_at: seconds(Temporal.Instant.from(tax.created_at)),
});
