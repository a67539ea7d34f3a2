import { AGGREGATION_TRAITS } from '../../../engine/metrics/aggregation-types.ts';
import { parseExpression } from '../../../engine/metrics/parse-expression.ts';
import type { BillableMetricRow, MetricDefinition } from './queries.ts';
import type { BillableMetricUpdate } from './schema.ts';
import type { MetricFilter } from './sorted-filters.ts';

export type FieldCodes = Record<string, string[]>;

/**
 * Fields that stay as they are once a live plan counts with the metric. Rule: billable-metrics.md#update-and-delete.
 */
const FROZEN = [
  'code',
  'aggregation_type',
  'recurring',
  'field_name',
  'weighted_interval',
  'rounding_function',
  'rounding_precision',
  'expression',
] as const satisfies (keyof MetricDefinition)[];

const EMPTY: Omit<MetricDefinition, 'code' | 'name' | 'aggregation_type'> = {
  description: null,
  recurring: false,
  field_name: null,
  weighted_interval: null,
  rounding_function: null,
  rounding_precision: null,
  expression: null,
  unit_code: null,
};

/** A metric as it will be: what was sent over what is stored, blanks as null, no field on a count. */
export function definitionOf(
  given: BillableMetricUpdate,
  stored: Omit<MetricDefinition, 'code' | 'name' | 'aggregation_type'> & Partial<MetricDefinition> = EMPTY,
): MetricDefinition {
  const { filters: _filters, ...sent } = given;
  const known = Object.entries(sent).filter(([, value]) => value !== undefined);
  const merged = { ...stored, ...Object.fromEntries(known) } as MetricDefinition;
  return {
    ...merged,
    recurring: merged.recurring ?? false,
    description: orNull(merged.description),
    expression: orNull(merged.expression),
    field_name: merged.aggregation_type === 'count_agg' ? null : orNull(merged.field_name),
  };
}

/** Everything that is wrong with a metric. */
export function definitionFaults(metric: MetricDefinition): FieldCodes {
  const traits = AGGREGATION_TRAITS[metric.aggregation_type];
  const needsInterval = metric.aggregation_type === 'weighted_sum_agg' && metric.weighted_interval === null;
  const isUnreadable = metric.expression !== null && parseExpression(metric.expression) === undefined;
  const faults: [boolean, string, string][] = [
    [metric.recurring && !traits.canRecur, 'recurring', 'not_compatible_with_aggregation_type'],
    [traits.needsField && metric.field_name === null, 'field_name', 'value_is_mandatory'],
    [needsInterval, 'weighted_interval', 'value_is_invalid'],
    [isUnreadable, 'expression', 'invalid_expression'],
  ];
  return Object.fromEntries(faults.filter(([isWrong]) => isWrong).map(([, field, code]) => [field, [code]]));
}

/** Frozen fields that would change. */
export function frozenFaults(stored: BillableMetricRow, changed: MetricDefinition): FieldCodes {
  const fields = FROZEN.filter((field) => stored[field] !== changed[field]);
  return Object.fromEntries(fields.map((field) => [field, ['value_is_frozen']]));
}

/** Filters with each value once; a key that stands twice is refused. */
export function metricFiltersOf(given: readonly MetricFilter[]): { filters: MetricFilter[]; faults: FieldCodes } {
  const filters = given.map(({ key, values }) => ({ key, values: [...new Set(values)] }));
  const isRepeated = new Set(filters.map(({ key }) => key)).size < filters.length;
  return { filters, faults: isRepeated ? { key: ['value_already_exist'] } : {} };
}

const orNull = (text: string | null): string | null => (text === null || text.trim() === '' ? null : text);
