import type { AggregationType } from '../../../engine/metrics/aggregation-types.ts';
import type { FilterValues } from '../../../engine/metrics/choose-filter.ts';
import { compareGroups, type GroupedBy } from '../../../engine/metrics/group-values.ts';
import { type PresentedUnits, presentFewer } from '../../../engine/metrics/presentation.ts';
import { type Cents, sumCents, ZERO_CENTS } from '../../../engine/money/cents.ts';
import { type Decimal, decimalText, sum } from '../../../engine/money/decimal.ts';
import type { ChargeModelName } from '../../../engine/pricing/charge-models.ts';
import type { ChargeFilterId, ChargeId, MetricId } from '../../../platform/ids.ts';
import { groupRows } from '../../../platform/lists/group-rows.ts';
import { inParts, mapInSlices, type Pause, sortInSlices } from '../../../platform/turns/turns.ts';
import type { PricedShare } from './price-usage.ts';

/** The fields of a charge that a usage answer shows. */
export interface ShownCharge {
  id: ChargeId;
  code: string;
  charge_model: ChargeModelName;
  invoice_display_name: string | null;
  metric: { id: MetricId; name: string; code: string; aggregation_type: AggregationType };
  /** Pricing unit of its prices, if they are not in the currency. */
  pricing_unit?: { short_name: string } | null;
  conversion_rate?: Decimal | null;
  /** In their order. */
  filters: readonly ShownFilter[];
}

interface ShownFilter {
  id: string;
  invoice_display_name: string | null;
  values: FilterValues;
}

/** The figures of one filter and group. */
export interface ShownShare {
  /** Null is the default bucket. */
  filterId: ChargeFilterId | null;
  groupedBy: GroupedBy;
  units: Decimal;
  totalUnits: Decimal;
  eventsCount: number;
  amountCents: Cents;
  /** In cents of the charge's pricing unit; null without one. */
  pricingUnitCents: Cents | null;
  presented: readonly PresentedUnits[];
  /** Its projection to the end of the period, for projected usage. */
  projected?: {
    units: Decimal;
    amountCents: Cents;
    pricingUnitCents: Cents | null;
    presented: readonly PresentedUnits[];
  };
}

export const shownShare = ({ filter, groupedBy, counted, fee, totalUnits }: PricedShare): ShownShare => ({
  filterId: filter?.id ?? null,
  groupedBy,
  units: fee.units,
  totalUnits,
  eventsCount: fee.eventsCount,
  amountCents: fee.amountCents,
  pricingUnitCents: fee.pricingUnit?.amountCents ?? null,
  presented: counted.presented ?? [],
});

/**
 * Usage of one charge as the API shows it: in all, by filter and by group; projected figures beside when the shares
 * have them.
 *
 * keys   presentation keys to keep, all when absent
 * pause  called between two filters, two groups and some hundred shares
 *
 * Rules: groups-and-filters.md#presentation, usage-reads.md#current-usage, usage-reads.md#projected-usage.
 */
export async function chargeUsageView(
  charge: ShownCharge,
  shares: readonly ShownShare[],
  currency: string,
  { keys, pause }: { keys?: string[] | undefined; pause?: Pause | undefined } = {},
) {
  const isGrouped = shares.some(({ groupedBy }) => Object.keys(groupedBy).length > 0);
  const withProjected = isProjected(shares);
  const figures = await figuresInSlices(charge, shares, pause);
  const filters = charge.filters.length === 0 ? [] : sharesByFilter(charge, shares, { withUnused: true });
  return {
    ...figures,
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
    filters: await mapInSlices(
      filters,
      async (each) => filterUsage(await figuresInSlices(charge, each.own, pause), each, { keys, withProjected }),
      pause,
    ),
    grouped_usage: isGrouped ? await groupedUsage(charge, shares, { keys, withProjected }, pause) : [],
    ...breakdownsOf(isGrouped || charge.filters.length > 0 ? [] : shares, keys, withProjected),
  };
}

/** What is added up of shares. */
interface Totals extends Pick<ShownShare, 'units' | 'totalUnits' | 'eventsCount' | 'amountCents' | 'pricingUnitCents'> {
  projected?: Omit<NonNullable<ShownShare['projected']>, 'presented'>;
}

const isProjected = (shares: readonly Totals[]): boolean => shares.some(({ projected }) => projected !== undefined);

const totalsOf = (shares: readonly Totals[]): Totals => ({
  units: sum(shares.map(({ units }) => units)),
  totalUnits: sum(shares.map(({ totalUnits }) => totalUnits)),
  eventsCount: shares.reduce((total, { eventsCount }) => total + eventsCount, 0),
  amountCents: sumCents(shares.map(({ amountCents }) => amountCents)),
  pricingUnitCents: sumCents(shares.map(({ pricingUnitCents }) => pricingUnitCents ?? ZERO_CENTS)),
  ...(isProjected(shares)
    ? {
        projected: {
          units: sum(shares.map(({ units, projected }) => projected?.units ?? units)),
          amountCents: sumCents(shares.map(({ amountCents, projected }) => projected?.amountCents ?? amountCents)),
          pricingUnitCents: sumCents(
            shares.map(
              ({ pricingUnitCents, projected }) => projected?.pricingUnitCents ?? pricingUnitCents ?? ZERO_CENTS,
            ),
          ),
        },
      }
    : {}),
});

/** How many shares are added up in one piece: half a millisecond. */
const ADDED_AT_ONCE = 500;

const figuresOf = (charge: ShownCharge, shares: readonly ShownShare[]) => figuresView(charge, totalsOf(shares));

const figuresInSlices = async (charge: ShownCharge, shares: readonly ShownShare[], pause: Pause | undefined) =>
  figuresView(charge, totalsOf(await mapInSlices(inParts(shares, ADDED_AT_ONCE), totalsOf, pause)));

const figuresView = (charge: ShownCharge, totals: Totals) => ({
  units: decimalText(totals.units),
  total_aggregated_units: decimalText(totals.totalUnits),
  events_count: totals.eventsCount,
  amount_cents: totals.amountCents,
  ...(totals.projected
    ? {
        projected_units: decimalText(totals.projected.units),
        projected_amount_cents: totals.projected.amountCents,
      }
    : {}),
  pricing_unit_details: pricingUnitView(charge, totals),
});

function pricingUnitView({ pricing_unit, conversion_rate }: ShownCharge, { pricingUnitCents, projected }: Totals) {
  if (!pricing_unit || !conversion_rate) return null;
  return {
    amount_cents: pricingUnitCents ?? ZERO_CENTS,
    short_name: pricing_unit.short_name,
    conversion_rate: decimalText(conversion_rate),
    ...(projected ? { projected_amount_cents: projected.pricingUnitCents ?? ZERO_CENTS } : {}),
  };
}

function breakdownsOf(shares: readonly ShownShare[], keys: string[] | undefined, withProjected: boolean) {
  const viewOf = (presented: readonly PresentedUnits[]) =>
    (keys === undefined ? presented : presentFewer(presented, keys)).map(({ presentationBy, units }) => ({
      presentation_by: presentationBy,
      units: decimalText(units),
    }));
  return {
    presentation_breakdowns: viewOf(shares.flatMap(({ presented }) => presented)),
    ...(withProjected
      ? { projected_presentation_breakdowns: viewOf(shares.flatMap(({ projected }) => projected?.presented ?? [])) }
      : {}),
  };
}

interface Shown {
  /** Presentation keys to keep, all when undefined. */
  keys: string[] | undefined;
  withProjected: boolean;
}

/** The shares of a filter, undefined being the default bucket. */
interface SharesOfFilter {
  filter: ShownFilter | undefined;
  own: readonly ShownShare[];
}

/** One entry for each filter, the default bucket last; filters without a share only `withUnused`. */
function sharesByFilter(
  charge: ShownCharge,
  shares: readonly ShownShare[],
  { withUnused }: { withUnused: boolean },
): SharesOfFilter[] {
  const sharesOf = groupRows(shares, ({ filterId }) => filterId);
  return [...charge.filters, undefined]
    .filter((filter) => withUnused || sharesOf.has(filter?.id ?? null))
    .map((filter) => ({ filter, own: sharesOf.get(filter?.id ?? null) ?? [] }));
}

/** Key of a filter: the values of the default bucket are `{}`, which no filter has. */
const filterUsage = (
  figures: ReturnType<typeof figuresOf>,
  { filter, own }: SharesOfFilter,
  { keys, withProjected }: Shown,
) => ({
  ...figures,
  ...(filter?.invoice_display_name ? { invoice_display_name: filter.invoice_display_name } : {}),
  values: filter?.values ?? {},
  ...breakdownsOf(own, keys, withProjected),
});

/** One entry for each group, over all filters with a fee in it. */
async function groupedUsage(
  charge: ShownCharge,
  shares: readonly ShownShare[],
  shown: Shown,
  pause: Pause | undefined,
) {
  const groups = new Map<string, { groupedBy: GroupedBy; shares: ShownShare[] }>();
  const add = (share: ShownShare) => {
    const name = nameOf(share);
    const group = groups.get(name);
    if (group) group.shares.push(share);
    else groups.set(name, { groupedBy: share.groupedBy, shares: [share] });
  };
  await mapInSlices(shares, add, pause);
  return mapInSlices(
    await sortInSlices([...groups.values()], byGroup, pause),
    (group) => ({
      ...figuresOf(charge, group.shares),
      grouped_by: group.groupedBy,
      filters:
        charge.filters.length === 0
          ? []
          : sharesByFilter(charge, group.shares, { withUnused: false }).map((each) =>
              filterUsage(figuresOf(charge, each.own), each, shown),
            ),
      ...breakdownsOf(group.shares, shown.keys, shown.withProjected),
    }),
    pause,
  );
}

/** Merges groups with the same values, whatever the order of their keys. */
const nameOf = ({ groupedBy }: ShownShare): string =>
  JSON.stringify(Object.entries(groupedBy).sort(([a], [b]) => (a < b ? -1 : 1)));

function byGroup({ groupedBy: a }: { groupedBy: GroupedBy }, { groupedBy: b }: { groupedBy: GroupedBy }): number {
  const keys = Object.keys(a);
  // Most groups have the same keys: comparing them as sets in 300 000 comparisons would take a tenth of a second.
  for (const key in b) if (!Object.hasOwn(a, key)) keys.push(key);
  return compareGroups(keys, a, b);
}
