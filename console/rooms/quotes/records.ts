export interface QuoteVersion {
  svc_id: string;
  svc_quote_id: string;
  version: number;
  status: string;
  currency: string | null;
  billing_entity_code: string | null;
  void_reason: string | null;
  approved_at: string | null;
  voided_at: string | null;
  created_at: string;
}

/** Parts of an offer, in the words in which quotes write them. */
interface Item {
  id?: string;
  localId?: string;
  payload?: Record<string, unknown> & {
    code?: string;
    units?: number | string;
    unitAmountCents?: number;
    totalAmountCents?: number;
  };
  overrides?: Record<string, unknown>;
}

export type Items = Record<string, Item[]>;

export interface WholeVersion extends QuoteVersion {
  content: string | null;
  billing_items: Items | null;
}

export interface Quote {
  svc_id: string;
  number: string;
  order_type: string;
  svc_customer_id: string;
  svc_subscription_id: string | null;
  created_at: string;
  current_version: QuoteVersion | null;
  owners?: { svc_id: string; email: string | null }[];
}

export interface OrderForm {
  svc_id: string;
  number: string;
  status: string;
  void_reason: string | null;
  expires_at: string | null;
  signed_at: string | null;
  svc_quote_id: string;
  created_at: string;
}

export interface Order {
  svc_id: string;
  number: string;
  status: string;
  order_type: string;
  executed_at: string | null;
  execution_record: { invoice_id: string | null; subscription_ids: string[]; errors: string[] };
  created_at: string;
}
