export interface Wallet {
  svc_id: string;
  external_customer_id: string;
  name: string | null;
  code: string;
  status: string;
  currency: string;
  priority: number;
  rate_amount: string;
  credits_balance: string;
  balance_cents: number;
  ongoing_balance_cents: number;
  credits_ongoing_balance: string;
  consumed_credits: string;
  expiration_at: string | null;
  terminated_at: string | null;
  last_balance_sync_at: string | null;
  recurring_transaction_rules?: {
    svc_id: string;
    trigger: string;
    method: string;
    interval: string;
    status: string;
    threshold_credits: string;
    paid_credits: string;
    granted_credits: string;
    target_ongoing_balance: string | null;
  }[];
  created_at: string;
}

export interface WalletTransaction {
  svc_id: string;
  svc_invoice_id: string | null;
  transaction_type: 'inbound' | 'outbound';
  transaction_status: string;
  status: string;
  source: string;
  amount: string;
  credit_amount: string;
  remaining_credit_amount: string | null;
  name: string | null;
  settled_at: string | null;
  failed_at: string | null;
  created_at: string;
}

export interface Hold {
  svc_id: string;
  status: string;
  amount_cents: number;
  currency: string;
  reference: string | null;
  external_subscription_id: string | null;
  expires_at: string;
}
