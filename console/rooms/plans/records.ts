import type { ChargeModelName } from '../../../src/engine/pricing/charge-models.ts';
import { t } from '../../texts/en.ts';

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
  charges: Charge[];
  fixed_charges?: {
    svc_id: string;
    add_on_code: string;
    invoice_display_name: string;
    charge_model: ChargeModelName;
    units: number;
    properties: Record<string, unknown>;
    pay_in_advance: boolean;
    prorated: boolean;
  }[];
  minimum_commitment?: { amount_cents: number };
  usage_thresholds?: {
    svc_id: string;
    amount_cents: number;
    threshold_display_name: string | null;
    recurring: boolean;
  }[];
  entitlements?: {
    entitlement: {
      code: string;
      name: string | null;
      privileges: { code: string; name: string | null; value: unknown }[];
    };
  }[];
  taxes?: { code: string; name: string }[];
  created_at: string;
}

export interface Metric {
  svc_id: string;
  code: string;
  name: string;
}

/** Models that the editor offers; `custom` has no rules. */
export const MODELS: readonly (readonly [ChargeModelName, string])[] = [
  ['standard', t.plans.modelStandard],
  ['graduated', t.plans.modelGraduated],
  ['volume', t.plans.modelVolume],
  ['package', t.plans.modelPackage],
  ['percentage', t.plans.modelPercentage],
  ['graduated_percentage', t.plans.modelGraduatedPercentage],
  ['dynamic', t.plans.modelDynamic],
];
