export interface Entry {
  svc_id: string;
  sequence: number;
  svc_transaction_id: string;
  rule: string;
  booked_at: string;
  booked_on: string;
  document_date: string;
  billing_entity_code: string;
  account_code: string;
  side: 'debit' | 'credit';
  amount_cents: number;
  currency: string;
  external_customer_id: string | null;
  svc_invoice_id: string | null;
  svc_credit_note_id: string | null;
  svc_wallet_id: string | null;
  svc_payment_id: string | null;
  tax_code: string | null;
}

export interface Transaction {
  svc_id: string;
  rule: string;
  source_type: string;
  svc_source_id: string;
  currency: string;
  booked_at: string;
  booked_on: string;
  document_date: string;
  svc_reverses_id: string | null;
  lines: Entry[];
}

export interface Account {
  code: string;
  kind: string;
  currency: string;
  billing_entity_code: string;
  debit_cents: number;
  credit_cents: number;
  balance_cents: number;
}

export interface TrialBalance {
  at: string;
  basis: 'booked' | 'document';
  currencies: {
    currency: string;
    rows: { account_code: string; debit_cents: number; credit_cents: number }[];
    total_debit_cents: number;
    total_credit_cents: number;
    balanced: boolean;
  }[];
}
