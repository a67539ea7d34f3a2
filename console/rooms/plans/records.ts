import type { ChargeModelName } from '../../../src/engine/pricing/charge-models.ts';

export interface Charge {
  svc_id?: string;
  svc_billable_metric_id: string;
  billable_metric_code: string;
  code?: string;
  invoice_display_name: string | null;
  charge_model: ChargeModelName;
  pay_in_advance: boolean;
  min_amount_cents: number;
  properties: Record<string, unknown>;
  filters: {
    invoice_display_name: string | null;
    properties: Record<string, unknown>;
    values: Record<string, string[]>;
  }[];
}

export interface Plan {
  svc_id: string;
  name: string;
  code: string;
  description: string | null;
  interval: string;
  amount_cents: number;
  amount_currency: string;
  pay_in_advance: boolean;
  trial_period: number | null;
  active_subscriptions_count: number;
  customers_count: number;
  charges: Charge[];
  created_at: string;
}

export interface Metric {
  svc_id: string;
  code: string;
  name: string;
}

/** Models that the editor offers; `custom` has no rules. */
export const MODELS: readonly (readonly [ChargeModelName, string])[] = [
  ['standard', 'One price for each unit'],
  ['graduated', 'Price by ranges: each unit at the price of its range'],
  ['volume', 'Price by volume: all units at the price of the range reached'],
  ['package', 'Packages of units'],
  ['percentage', 'Percentage of an amount'],
  ['graduated_percentage', 'Percentage by ranges'],
  ['dynamic', 'The event brings its price'],
];
