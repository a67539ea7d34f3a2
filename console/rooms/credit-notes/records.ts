import type { Customer } from '../../parts/records.ts';

export interface CreditNote {
  svc_id: string;
  number: string;
  svc_invoice_id: string;
  invoice_number: string;
  issuing_date: string;
  credit_status: string;
  refund_status: string | null;
  reason: string;
  description: string | null;
  currency: string;
  total_amount_cents: number;
  taxes_amount_cents: number;
  sub_total_excluding_taxes_amount_cents: number;
  coupons_adjustment_amount_cents: number;
  balance_amount_cents: number;
  credit_amount_cents: number;
  refund_amount_cents: number;
  offset_amount_cents: number;
  items: {
    svc_id: string;
    amount_cents: number;
    fee: { external_customer_id: string | null; item?: { name: string; invoice_display_name: string } } | null;
  }[];
  customer?: Customer;
  created_at: string;
}

export const REASONS = [
  'duplicated_charge',
  'product_unsatisfactory',
  'order_change',
  'order_cancellation',
  'fraudulent_charge',
  'other',
] as const;
