import { hash } from 'node:crypto';
import type { AggregationType } from '../../../engine/metrics/aggregation-types.ts';
import type { MetricId, OrganizationId, UsageShapeId } from '../../../platform/ids.ts';

/**
 * How the events of a metric are rolled up: by hour and by the texts of these properties. One shape of each metric is
 * live; another may be built to take its place. Rule: rollups.md#tables.
 */
export interface Shape {
  id: UsageShapeId;
  organization_id: OrganizationId;
  billable_metric_id: MetricId;
  code: string;
  aggregation_type: AggregationType;
  field_name: string | null;
  /** Sorted. */
  property_names: string[];
  state: 'building' | 'live' | 'retired';
  /** Whether sums of full days are kept beside those of hours. */
  keeps_days: boolean;
}

/** Definition of a shape: when it changes, a new one is built. */
export type ShapeDefinition = Pick<Shape, 'code' | 'aggregation_type' | 'field_name' | 'property_names'>;

/**
 * With more groups of one subscription and month than this, sums of full days are kept beside those of hours
 * (rollups.md#figures).
 */
export const MOST_GROUPS_BY_HOURS = 20;

/** Aggregations whose buckets sum up to days; others are read by hours. */
export const sumsUpToDays = (type: AggregationType): boolean =>
  type === 'count_agg' || type === 'sum_agg' || type === 'weighted_sum_agg';

/** Aggregations that are rolled up; the others are counted by scan. */
export const isRolledUp = (type: AggregationType): boolean => type !== 'custom_agg';

export const isSameDefinition = (a: ShapeDefinition, b: ShapeDefinition): boolean =>
  a.code === b.code &&
  a.aggregation_type === b.aggregation_type &&
  a.field_name === b.field_name &&
  a.property_names.length === b.property_names.length &&
  a.property_names.every((name, index) => name === b.property_names[index]);

/** Hash, in hex, of the texts of a shape's properties in their order; null is absent, "" is not. */
export const groupHash = (texts: readonly (string | null)[]): string =>
  hash('sha256', JSON.stringify(texts), 'hex').slice(0, 32);

/** JSON text of a group's properties; absent ones are left out. */
export const groupJson = (names: readonly string[], texts: readonly (string | null)[]): string =>
  JSON.stringify(
    Object.fromEntries(names.flatMap((name, index) => (texts[index] === null ? [] : [[name, texts[index]]]))),
  );
