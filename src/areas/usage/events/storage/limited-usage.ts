import { assert } from '../../../../engine/assert.ts';
import { numericValue } from '../../../../engine/metrics/numeric-text.ts';
import { propertyText } from '../../../../engine/metrics/property-text.ts';
import { type Decimal, ZERO } from '../../../../engine/money/decimal.ts';
import { own } from '../../../../engine/own.ts';
import type { ExternalSubscriptionId, OrganizationId } from '../../../../platform/ids.ts';
import { meteredText } from '../../../catalog/usage-shapes/numeric-properties.ts';
import type { Catalog, LimitedMetric } from '../../../catalog/usage-shapes/storing-catalog.ts';
import { parseProperties } from '../property-json.ts';
import type { EventRow } from './columns.ts';

/** Events of one transaction that count toward usage limits, one group for each subscription and metric. */
export interface LimitedUsage {
  /** Number of the transaction that stored them. */
  transaction: string;
  groups: LimitedGroup[];
}

export interface LimitedGroup {
  organization_id: OrganizationId;
  external_subscription_id: ExternalSubscriptionId;
  metric: LimitedMetric;
  /** Units by which a count or a sum grows; null for other metrics. */
  units: Decimal | null;
  /** Timestamps of the first and the last one, ISO texts with microseconds. */
  first: string;
  last: string;
}

/** The usage under limits in stored events; null for most organizations, which have no limits. */
export function limitedUsageOf(
  stored: readonly EventRow[],
  catalogs: ReadonlyMap<string, Catalog>,
  transaction: string | undefined,
): LimitedUsage | null {
  const groups = new Map<string, LimitedGroup>();
  for (const row of stored) {
    const metric = catalogs.get(row.organization_id)?.limited.get(row.prepared.event.code);
    if (metric) addTo(groups, row, metric);
  }
  if (groups.size === 0) return null;
  assert(transaction !== undefined, 'what stored events has a number');
  return { transaction, groups: [...groups.values()] };
}

function addTo(
  groups: Map<string, LimitedGroup>,
  { organization_id, prepared: { event, timestamp, properties } }: EventRow,
  metric: LimitedMetric,
): void {
  const { external_subscription_id } = event;
  const units = unitsOf(metric, properties);
  const key = JSON.stringify([organization_id, external_subscription_id, event.code]);
  const group = groups.get(key);
  if (!group) {
    groups.set(key, { organization_id, external_subscription_id, metric, units, first: timestamp, last: timestamp });
    return;
  }
  group.units = group.units && units && group.units.plus(units);
  if (timestamp < group.first) group.first = timestamp;
  if (timestamp > group.last) group.last = timestamp;
}

function unitsOf({ aggregation_type, field_name }: LimitedMetric, text: string): Decimal | null {
  if (aggregation_type === 'count_agg') return ZERO.plus(1);
  if (aggregation_type !== 'sum_agg' || field_name === null) return null;
  const properties = parseProperties(text);
  const value = propertyText(own(properties, field_name));
  return numericValue(meteredText(value)) ?? ZERO;
}
