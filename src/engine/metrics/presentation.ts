import { type Decimal, sum, ZERO } from '../money/decimal.ts';
import type { Texts } from './choose-filter.ts';
import { type GroupedBy, gatherGroups } from './group-values.ts';
import type { WeightedSum } from './weighted-sum.ts';

/** Units of one combination of the values of the presentation keys. */
export interface PresentedUnits {
  presentationBy: GroupedBy;
  units: Decimal;
}

interface PresentationKey {
  value: string;
  options?: { display_in_invoice?: boolean };
}

/**
 * Presentation keys of a charge's stored properties; fees show only `displayed` ones.
 * Rule: groups-and-filters.md#presentation.
 */
export function presentationKeys(properties: { presentation_group_keys?: unknown }): {
  all: string[];
  displayed: string[];
} {
  const keys = (properties.presentation_group_keys ?? []) as readonly PresentationKey[];
  return {
    all: keys.map(({ value }) => value),
    displayed: keys.filter(({ options }) => options?.display_in_invoice === true).map(({ value }) => value),
  };
}

/**
 * Splits the usage of one fee by the presentation keys, in ascending order of their values, null last; empty without
 * rows.
 *
 * rows     of the fee's filter and group: events or buckets; of a latest aggregation the last event alone; of a fee in
 *          advance its event alone
 * unitsOf  aggregation of a subset, full units of a prorated charge; in advance the event's units
 *
 * Rule: groups-and-filters.md#presentation.
 */
export const presentUnits = <Row>(
  keys: readonly string[],
  rows: readonly Row[],
  textsOf: (row: Row) => Texts,
  unitsOf: (rows: readonly Row[]) => Decimal,
): PresentedUnits[] =>
  keys.length === 0 || rows.length === 0
    ? []
    : gatherGroups(keys, rows, textsOf).map((group) => ({
        presentationBy: group.groupedBy,
        units: unitsOf(group.rows),
      }));

/** A breakdown by fewer keys with summed units: by the keys displayed on fees, or those kept by a request. */
export const presentFewer = (breakdown: readonly PresentedUnits[], keys: readonly string[]): PresentedUnits[] =>
  presentUnits(
    keys,
    breakdown,
    ({ presentationBy }) => presentationBy,
    (entries) => sum(entries.map(({ units }) => units)),
  );

/**
 * Breakdown of a recurring weighted sum. Each combination continues from its saved total; a period without events shows
 * the saved totals.
 *
 * weigh weighted sum of a subset from its own initial total, 0 if none was saved
 * → what is shown, and the totals to save for the next period
 *
 * Rule: groups-and-filters.md#presentation "weighted_sum recurring".
 */
export function presentWeightedSum<Row>(
  { keys, rows, textsOf }: { keys: readonly string[]; rows: readonly Row[]; textsOf: (row: Row) => Texts },
  saved: readonly PresentedUnits[],
  weigh: (rows: readonly Row[], initial: Decimal) => Pick<WeightedSum, 'units' | 'totalUnits'>,
): { shown: PresentedUnits[]; totals: PresentedUnits[] } {
  if (rows.length === 0 || keys.length === 0) return { shown: [...saved], totals: [...saved] };

  type Part = { texts: Texts; row?: Row; initial?: Decimal };
  const parts: Part[] = [
    ...saved.map(({ presentationBy, units }) => ({ texts: presentationBy, initial: units })),
    ...rows.map((row) => ({ texts: textsOf(row), row })),
  ];
  const weighed = gatherGroups(keys, parts, (part) => part.texts).map(({ groupedBy, rows: group }) => {
    const initial = group.find((part) => part.initial !== undefined)?.initial ?? ZERO;
    const own = group.flatMap((part) => (part.row === undefined ? [] : [part.row]));
    return { presentationBy: groupedBy, ...weigh(own, initial) };
  });
  return {
    shown: weighed.map(({ presentationBy, units }) => ({ presentationBy, units })),
    totals: weighed.map(({ presentationBy, totalUnits }) => ({ presentationBy, units: totalUnits })),
  };
}
