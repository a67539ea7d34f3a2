export interface Coupon {
  svc_id: string;
  name: string;
  code: string;
  description: string | null;
  coupon_type: 'fixed_amount' | 'percentage';
  amount_cents: number | null;
  amount_currency: string | null;
  percentage_rate: string | number | null;
  frequency: string;
  frequency_duration: number | null;
  reusable: boolean;
  limited_plans: boolean;
  plan_codes: string[];
  limited_billable_metrics: boolean;
  billable_metric_codes: string[];
  expiration: string;
  expiration_at: string | null;
  terminated_at: string | null;
  created_at: string;
}

export interface AppliedCoupon {
  svc_id: string;
  coupon_code: string;
  coupon_name: string;
  external_customer_id: string;
  status: string;
  amount_cents: number | null;
  amount_cents_remaining: number | null;
  amount_currency: string | null;
  percentage_rate: number | null;
  frequency: string;
  frequency_duration_remaining: number | null;
  created_at: string;
  terminated_at: string | null;
}
