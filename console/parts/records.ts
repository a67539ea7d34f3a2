import type { PageMeta } from './table.tsx';

/** Records as rooms read them: the fields of the API's answers that pages show. */
export interface Customer {
  svc_id: string;
  external_id: string;
  name: string | null;
  firstname: string | null;
  lastname: string | null;
  legal_name: string | null;
  email: string | null;
  phone: string | null;
  country: string | null;
  city: string | null;
  address_line1: string | null;
  zipcode: string | null;
  currency: string | null;
  timezone: string | null;
  applicable_timezone: string;
  net_payment_term: number | null;
  tax_identification_number: string | null;
  billing_entity_code: string;
  created_at: string;
  metadata: { key: string; value: string }[];
}

export interface Invoice {
  svc_id: string;
  number: string;
  issuing_date: string;
  payment_due_date: string;
  invoice_type: string;
  status: string;
  payment_status: string;
  payment_overdue: boolean;
  payment_dispute_lost_at: string | null;
  currency: string;
  fees_amount_cents: number;
  taxes_amount_cents: number;
  coupons_amount_cents: number;
  credit_notes_amount_cents: number;
  progressive_billing_credit_amount_cents: number;
  prepaid_credit_amount_cents: number;
  sub_total_excluding_taxes_amount_cents: number;
  sub_total_including_taxes_amount_cents: number;
  total_amount_cents: number;
  total_paid_amount_cents: number;
  total_written_off_amount_cents: number;
  total_offsetted_credit_note_amount_cents: number;
  total_due_amount_cents: number;
  customer: Customer;
  created_at: string;
}

export interface Subscription {
  svc_id: string;
  external_id: string;
  external_customer_id: string;
  name: string | null;
  plan_code: string;
  plan_amount_cents: number;
  plan_amount_currency: string;
  status: string;
  billing_time: string;
  started_at: string | null;
  subscription_at: string;
  ending_at: string | null;
  terminated_at: string | null;
  next_plan_code: string | null;
  previous_plan_code: string | null;
  downgrade_plan_date: string | null;
  current_billing_period_started_at: string | null;
  current_billing_period_ending_at: string | null;
  created_at: string;
}

export interface Activity {
  activity_id: string;
  activity_type: string;
  activity_source: string;
  activity_object: Record<string, unknown>;
  activity_object_changes: Record<string, [unknown, unknown]> | null;
  user_email: string | null;
  resource_id: string;
  resource_type: string;
  external_customer_id: string | null;
  external_subscription_id: string | null;
  logged_at: string;
  created_at: string;
}

export interface Listed<Row> {
  rows: Row[];
  meta: PageMeta;
}

export const customerName = (customer: Customer): string =>
  customer.name ||
  customer.legal_name ||
  [customer.firstname, customer.lastname].filter((part) => part).join(' ') ||
  customer.external_id;
