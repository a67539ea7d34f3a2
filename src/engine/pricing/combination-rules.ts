import { AGGREGATION_TRAITS, type AggregationType } from '../metrics/aggregation-types.ts';
import type { ChargeModelName } from './charge-models.ts';

/** The fields of a charge and its metric that must fit together. */
export interface Combination {
  charge_model: ChargeModelName;
  aggregation_type: AggregationType;
  /** Whether the metric is recurring. */
  recurring: boolean;
  pay_in_advance: boolean;
  prorated: boolean;
  invoiceable: boolean;
  regroup_paid_fees: 'invoice' | null;
  min_amount_cents: number;
}

/** Codes by field, as in `error_details`; empty when everything fits. */
export type FieldCodes = Record<string, string[]>;

interface ModelRules {
  /** Aggregations that the model cannot price at all. */
  refuses: readonly AggregationType[];
  refusal: { field: string; code: string };
  isPayableInAdvance: boolean;
  /** Billing times at which the model can weigh units by days. */
  prorates: readonly ('arrears' | 'advance')[];
}

const INCOMPATIBLE = 'invalid_aggregation_type_or_charge_model';
const OTHER_MODEL = { field: 'charge_model', code: INCOMPATIBLE };
const OTHER_PROPERTIES = { field: 'properties', code: 'invalid_value' };
const allBut = (type: AggregationType): AggregationType[] =>
  (Object.keys(AGGREGATION_TRAITS) as AggregationType[]).filter((other) => other !== type);

/** Which model goes with which aggregation, and when it may be paid. Rule: charges.md#combinations. */
// biome-ignore format: a table
export const MODEL_RULES: Readonly<Record<ChargeModelName, ModelRules>> = {
  standard:             { refuses: [],                   refusal: OTHER_MODEL,      isPayableInAdvance: true,  prorates: ['arrears', 'advance'] },
  graduated:            { refuses: [],                   refusal: OTHER_MODEL,      isPayableInAdvance: true,  prorates: ['arrears'] },
  graduated_percentage: { refuses: ['latest_agg'],       refusal: OTHER_PROPERTIES, isPayableInAdvance: true,  prorates: [] },
  package:              { refuses: [],                   refusal: OTHER_MODEL,      isPayableInAdvance: true,  prorates: [] },
  percentage:           { refuses: ['latest_agg'],       refusal: OTHER_PROPERTIES, isPayableInAdvance: true,  prorates: [] },
  volume:               { refuses: [],                   refusal: OTHER_MODEL,      isPayableInAdvance: false, prorates: ['arrears'] },
  dynamic:              { refuses: allBut('sum_agg'),    refusal: OTHER_MODEL,      isPayableInAdvance: true,  prorates: [] },
  custom:               { refuses: allBut('custom_agg'), refusal: OTHER_MODEL,      isPayableInAdvance: true,  prorates: [] },
};

/** Everything in which a charge and its metric do not fit together. Rule: charges.md#combinations. */
export function combinationFaults(combination: Combination): FieldCodes {
  const { charge_model, aggregation_type, recurring, pay_in_advance, prorated } = combination;
  const rules = MODEL_RULES[charge_model];
  const isPayableInAdvance = rules.isPayableInAdvance && AGGREGATION_TRAITS[aggregation_type].isPayableInAdvance;
  const isRefused = rules.refuses.includes(aggregation_type);
  const canProrate =
    recurring &&
    aggregation_type !== 'weighted_sum_agg' &&
    rules.prorates.includes(pay_in_advance ? 'advance' : 'arrears');

  const faults: [boolean, string, string][] = [
    [isRefused && !(pay_in_advance && rules.refusal === OTHER_PROPERTIES), rules.refusal.field, rules.refusal.code],
    [
      pay_in_advance && !isPayableInAdvance && !(isRefused && rules.refusal === OTHER_MODEL),
      'pay_in_advance',
      INCOMPATIBLE,
    ],
    [prorated && !canProrate, 'prorated', 'invalid_billable_metric_or_charge_model'],
    [!combination.invoiceable && !pay_in_advance, 'invoiceable', 'must_be_true_unless_pay_in_advance'],
    [
      combination.regroup_paid_fees !== null && (!pay_in_advance || combination.invoiceable),
      'regroup_paid_fees',
      'only_compatible_with_pay_in_advance_and_non_invoiceable',
    ],
    [combination.min_amount_cents > 0 && pay_in_advance, 'min_amount_cents', 'not_compatible_with_pay_in_advance'],
  ];
  return Object.fromEntries(faults.filter(([isWrong]) => isWrong).map(([, field, code]) => [field, [code]]));
}
