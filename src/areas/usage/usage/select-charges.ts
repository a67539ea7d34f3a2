import { refuse } from '../../../platform/refusal.ts';
import type { PricedCharge } from './priced-charges.ts';
import type { CurrentUsageQuery } from './schema.ts';

type Restriction = Partial<
  Pick<
    CurrentUsageQuery,
    | 'charge_id'
    | 'charge_code'
    | 'billable_metric_code'
    | 'filter_by_charge_id'
    | 'filter_by_charge_code'
    | 'filter_by_metric_code'
  >
>;

/**
 * The charges of a usage read, by name of their metric; the first parameter that is present restricts them.
 *
 * @throws Refusal 404 charge, when no charge fits the restriction
 * Rule: usage-reads.md#current-usage.
 */
export function selectCharges(charges: readonly PricedCharge[], query: Restriction): PricedCharge[] {
  const id = query.charge_id ?? query.filter_by_charge_id;
  const code = query.charge_code ?? query.filter_by_charge_code;
  const metric = query.billable_metric_code ?? query.filter_by_metric_code;
  const fits = (charge: PricedCharge): boolean => {
    if (id !== undefined) return charge.id === id;
    if (code !== undefined) return charge.code === code;
    return metric === undefined || charge.metric.code === metric;
  };
  const selected = charges.filter(fits);
  if (selected.length === 0 && isRestricted(query)) throw refuse.notFound('charge');
  return selected.sort(byMetricName);
}

/** Order of charges by name of their metric, letters of either case alike. */
export function byMetricName(a: { metric: { name: string } }, b: { metric: { name: string } }): number {
  const [left, right] = [a.metric.name.toLowerCase(), b.metric.name.toLowerCase()];
  return left < right ? -1 : left > right ? 1 : 0;
}

export const isRestricted = (query: Restriction): boolean =>
  [
    query.charge_id,
    query.filter_by_charge_id,
    query.charge_code,
    query.filter_by_charge_code,
    query.billable_metric_code,
    query.filter_by_metric_code,
  ].some((value) => value !== undefined);
