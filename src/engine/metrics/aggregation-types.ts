export const AGGREGATION_TYPES = [
  'count_agg',
  'sum_agg',
  'max_agg',
  'unique_count_agg',
  'latest_agg',
  'weighted_sum_agg',
  'custom_agg',
] as const;
export type AggregationType = (typeof AGGREGATION_TYPES)[number];

export interface AggregationTraits {
  /** Units may persist from one period to the next. */
  canRecur: boolean;
  isPayableInAdvance: boolean;
  /** Only events whose property text is a plain number count. */
  needsNumber: boolean;
  /** The metric names the property that it aggregates. */
  needsField: boolean;
}

/**
 * What each aggregation allows and requires. Rules: billable-metrics.md#fields `field_name`,
 * billable-metrics.md#aggregation-types.
 */
// biome-ignore format: a table
export const AGGREGATION_TRAITS: Readonly<Record<AggregationType, AggregationTraits>> = {
  count_agg:        { canRecur: false, isPayableInAdvance: true,  needsNumber: false, needsField: false },
  sum_agg:          { canRecur: true,  isPayableInAdvance: true,  needsNumber: true,  needsField: true },
  max_agg:          { canRecur: false, isPayableInAdvance: false, needsNumber: true,  needsField: true },
  unique_count_agg: { canRecur: true,  isPayableInAdvance: true,  needsNumber: false, needsField: true },
  latest_agg:       { canRecur: false, isPayableInAdvance: false, needsNumber: true,  needsField: true },
  weighted_sum_agg: { canRecur: true,  isPayableInAdvance: false, needsNumber: true,  needsField: true },
  custom_agg:       { canRecur: true,  isPayableInAdvance: true,  needsNumber: false, needsField: false },
};

export const isAggregationType = (value: unknown): value is AggregationType =>
  AGGREGATION_TYPES.includes(value as AggregationType);
