import { compareGroups, type GroupedBy } from '../../engine/metrics/group-values.ts';
import { sumCents } from '../../engine/money/cents.ts';
import { decimalText, sum } from '../../engine/money/decimal.ts';
import type { ChargeUsage } from './current-usage.ts';
import type { PricedShare } from './price-usage.ts';
import type { PricedCharge, PricedFilter } from './priced-charges.ts';

/** Usage of one charge as the API shows it: in all, by filter and by group. Rule: usage-and-charges G.1. */
export const chargeUsageView = ({ charge, shares }: ChargeUsage, currency: string) => ({
  ...figuresOf(shares),
  amount_currency: currency,
  charge: {
    svc_id: charge.id,
    code: charge.code,
    charge_model: charge.charge_model,
    invoice_display_name: charge.invoice_display_name,
  },
  billable_metric: {
    svc_id: charge.metric.id,
    name: charge.metric.name,
    code: charge.metric.code,
    aggregation_type: charge.metric.aggregation_type,
  },
  filters:
    charge.filters.length === 0 ? [] : [...charge.filters, undefined].map((filter) => filterUsage(filter, shares)),
  grouped_usage: groupedUsage(charge, shares),
  presentation_breakdowns: [],
});

const figuresOf = (shares: readonly PricedShare[]) => ({
  units: decimalText(sum(shares.map(({ fee }) => fee.units))),
  total_aggregated_units: decimalText(sum(shares.map(({ totalUnits }) => totalUnits))),
  events_count: shares.reduce((total, { fee }) => total + fee.eventsCount, 0),
  amount_cents: sumCents(shares.map(({ fee }) => fee.amountCents)),
  pricing_unit_details: null,
});

/** One filter, undefined being the default bucket: its values are `{}`, which no filter's are. */
const filterUsage = (filter: PricedFilter | undefined, shares: readonly PricedShare[]) => ({
  ...figuresOf(shares.filter((share) => share.filter?.id === filter?.id)),
  ...(filter?.invoice_display_name ? { invoice_display_name: filter.invoice_display_name } : {}),
  values: filter?.values ?? {},
  presentation_breakdowns: [],
});

/** One entry a group when any fee is grouped, over all filters that have a fee in it. */
function groupedUsage(charge: PricedCharge, shares: readonly PricedShare[]) {
  if (shares.every(({ groupedBy }) => Object.keys(groupedBy).length === 0)) return [];
  const groups = new Map<string, { groupedBy: GroupedBy; shares: PricedShare[] }>();
  for (const share of shares) {
    const key = JSON.stringify(Object.entries(share.groupedBy).sort(([a], [b]) => (a < b ? -1 : 1)));
    const group = groups.get(key) ?? { groupedBy: share.groupedBy, shares: [] };
    group.shares.push(share);
    groups.set(key, group);
  }
  return [...groups.values()].sort(byGroup).map((group) => ({
    ...figuresOf(group.shares),
    grouped_by: group.groupedBy,
    filters: charge.filters.length === 0 ? [] : filtersIn(charge, group.shares),
    presentation_breakdowns: [],
  }));
}

const byGroup = (a: { groupedBy: GroupedBy }, b: { groupedBy: GroupedBy }): number =>
  compareGroups([...new Set([...Object.keys(a.groupedBy), ...Object.keys(b.groupedBy)])], a.groupedBy, b.groupedBy);

const filtersIn = (charge: PricedCharge, shares: readonly PricedShare[]) =>
  [...charge.filters, undefined]
    .filter((filter) => shares.some((share) => share.filter?.id === filter?.id))
    .map((filter) => filterUsage(filter, shares));
