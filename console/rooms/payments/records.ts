import type { Customer, Invoice } from '../../parts/records.ts';

export interface Payment {
  svc_id: string;
  external_customer_id: string;
  invoice_ids: string[];
  invoice_numbers: string[];
  svc_payable_id: string;
  payable_type: 'Invoice' | 'PaymentRequest';
  amount_cents: number;
  amount_currency: string;
  payment_status: string;
  type: string;
  reference: string | null;
  payment_provider_code: string | null;
  payment_provider_type: string | null;
  provider_payment_id: string | null;
  payment_method_id: string | null;
  next_action: Record<string, unknown>;
  provider_error: { message: string; error_code: string } | null;
  expected_settlement_date?: string;
  created_at: string;
}

export interface PaymentRequest {
  svc_id: string;
  email: string | null;
  amount_cents: number;
  amount_currency: string;
  payment_status: string;
  dunning_campaign_code?: string;
  created_at: string;
  customer: Customer;
  invoices: Invoice[];
}
