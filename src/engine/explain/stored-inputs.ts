import type { BillingTime, Interval } from '../calendar/grid.ts';
import type { Succession } from '../calendar/terms.ts';
import type { AggregationType } from '../metrics/aggregation-types.ts';
import type { FilterValues } from '../metrics/choose-filter.ts';
import type { GroupedBy } from '../metrics/group-values.ts';
import type { RoundingFunction } from '../metrics/round-units.ts';
import type { Properties } from '../pricing/charge-model.ts';
import type { ChargeModelName } from '../pricing/charge-models.ts';
import type { SubscriptionStatus } from '../subscriptions/subscription-states.ts';
import type { FeeType } from '../taxes/choose-taxes.ts';

/** Decimals, instants and days are texts. */
type Text = string;
export interface StoredPeriod {
  from: Text;
  to: Text;
}
type StoredList = readonly Text[] | { count: number; sum: Text };

/**
 * How days were counted (everywhere.md#two-counts-of-days): as the local dates touched, or by the clock from the first
 * instant to the last, in which a window that begins later in the day than it ends has one day less.
 */
export type DayCount = 'local_dates' | 'day_difference';

/** The stored inputs of a fee. Rule: invoice-verification.md#stored-inputs. */
export interface StoredFeeInputs {
  fee_type: FeeType;
  /** Absent for bought credits and for fees priced by units alone. */
  window: StoredWindow;
  price: StoredPrice;
  metric: StoredMetric | null;
  usage: StoredUsage | null;
  before: StoredBefore | null;
  commitment?: StoredCommitment;
  facts?: StoredFacts;
  manual_adjustment?: { units: Text | null; unit_precise_amount: Text | null; created_at: Text };
  tail: StoredTail;
}

interface StoredWindow {
  fee: StoredPeriod;
  timezone?: string;
  billed_at?: Text;
  invoicing_reason?: string;
  charges_duration_days?: number;
  trial_end?: Text | null;
  succession?: Succession;
  predecessor?: Succession;
  /** Whether its units were carried into the window, in which nothing was counted. */
  renewed?: boolean;
  /** The neighbouring subscriptions that share events of the first and the last instant. */
  startedAs?: string;
  replacedBy?: string;
}

export interface StoredPrice {
  charge_model?: ChargeModelName;
  properties?: Properties;
  charge_filter_id?: string | null;
  sibling_filters?: readonly { id: string; values: FilterValues; created_at: Text }[];
  pay_in_advance?: boolean;
  prorated?: boolean;
  pricing_unit_rate?: Text | null;
  min_amount_cents?: number;
  is_true_up?: boolean;
  is_units_change?: boolean;
  duration_days?: number;
  plan_amount_cents?: number;
  interval?: Interval;
  bill_charges_monthly?: boolean | null;
  bill_fixed_charges_monthly?: boolean | null;
  trial_period?: Text | null;
  add_on_code?: string;
  unit_amount_cents?: number;
  /** For bought credits: the price of one in the main unit. */
  rate_amount?: Text;
}

export interface StoredMetric {
  code: string;
  aggregation_type: AggregationType;
  field_name: string | null;
  recurring: boolean;
  rounding_function: RoundingFunction | null;
  rounding_precision: number | null;
  filters: readonly { key: string; values: readonly string[] }[];
}

export interface StoredUsage {
  aggregated_units?: Text | null;
  units?: Text;
  total_aggregated_units?: Text;
  events_count?: number | null;
  grouped_by?: GroupedBy;
  full_units?: Text;
  pieces?: { list?: readonly { full: Text; weighed: Text }[]; count?: number; divisor: number };
  values?: StoredList;
  precise_total_amount_cents?: Text;
  event?: StoredEvent;
}

export interface StoredEvent {
  id: string;
  transaction_id: string;
  billed: Text;
  units: Text;
  own_amount: Text;
  /** Whether anything was billed before in the period; absent for fees older than this field. */
  billed_before?: boolean;
  including: { units: Text; events_count: number; values?: StoredList; precise_total_amount?: Text };
  running_record: { current: Text; max: Text; max_prorated: Text };
}

export interface StoredBefore {
  status: SubscriptionStatus;
  subscription_at: Text;
  billing_time: BillingTime;
  started_at: Text | null;
  terminated_at: Text | null;
  created_at: Text;
  trial_ended_at: Text | null;
  first_started_at: Text | null;
  is_only_invoice: boolean;
  has_older_fee: boolean;
  has_fee_of_same_day: boolean;
}

export interface StoredCommitment {
  amount_cents: number;
  billed_days: number;
  period_days: number;
  used_cents: number;
  counted_fees?: readonly { id: string; fee_type: FeeType; amount_cents: number }[];
}

export type StoredFacts =
  | {
      kind: 'true_up';
      min_amount_cents: number;
      periodDays: number;
      billedDays: number;
      usedCents: number;
      usedPreciseCents: Text;
    }
  | {
      kind: 'fixed_units';
      units: Text;
      fullUnits: Text;
      already_paid_cents: number;
      records: readonly { units: Text; timestamp: Text }[];
    }
  | { kind: 'fixed_units_change'; units: Text; billedUnits: Text; days: number; periodDays: number }
  | { kind: 'by_hand'; units: Text; unit_amount: Text }
  | {
      kind: 'correction';
      correction_id: string;
      reason: string;
      old_amount_cents: number;
      new_amount_cents: number;
      units: Text;
    }
  | { kind: 'copied'; fee_id: string; amount_cents: number; precise_amount_cents: Text; units: Text };

export interface StoredTail {
  coupons: readonly { code: string; credit_cents: number; base: Text; share_of: Text; amount: Text }[];
  progressive_credit_cents: Text | number;
  taxes: readonly { code: string; rate: Text | number; level?: string }[];
  /** What a tax engine answered, in place of `taxes`. */
  tax_provider?: StoredTaxProvider;
  exponent: number;
}

/** The answer of a tax engine about a fee: the amount that it was asked about, and what it collects. */
export interface StoredTaxProvider {
  net_cents: number;
  collected_cents: number;
  taxes: readonly { code: string; name: string; description: string | null; rate: Text; amount_cents: Text }[];
}
