import type { GroupedBy } from '../../../engine/metrics/group-values.ts';
import { decimal, decimalText } from '../../../engine/money/decimal.ts';
import type { ChargeFilterId, ChargeId, MetricId } from '../../../platform/ids.ts';
import type { ChargeUsage } from '../usage/subscription-usage.ts';

/** Usage of one filter and group of a charge, as a snapshot keeps it. */
export interface SnapshotEntry {
  charge_id: ChargeId;
  charge_filter_id: ChargeFilterId | null;
  grouped_by: GroupedBy;
  billable_metric_id: MetricId;
  billable_metric_code: string;
  /** Decimal text. */
  units: string;
  events_count: number;
  amount_cents: number;
}

/** Usage in the form of a snapshot, without empty entries. */
export const snapshotOf = (usage: readonly ChargeUsage[]): SnapshotEntry[] =>
  usage.flatMap(({ charge, shares }) =>
    shares.flatMap(({ filter, groupedBy, fee }): SnapshotEntry[] =>
      fee.units.isZero() && fee.amountCents === 0 && fee.eventsCount === 0
        ? []
        : [
            {
              charge_id: charge.id,
              charge_filter_id: filter?.id ?? null,
              grouped_by: groupedBy,
              billable_metric_id: charge.metric.id,
              billable_metric_code: charge.metric.code,
              units: decimalText(fee.units),
              events_count: fee.eventsCount,
              amount_cents: fee.amountCents,
            },
          ],
    ),
  );

/** Differences between a snapshot and the one before it; unchanged entries are left out. */
export function differenceOf(now: readonly SnapshotEntry[], before: readonly SnapshotEntry[]): SnapshotEntry[] {
  const former = new Map(before.map((entry) => [keyOf(entry), entry]));
  const gone = new Map(former);
  for (const entry of now) gone.delete(keyOf(entry));
  const nothing = { units: '0', events_count: 0, amount_cents: 0 };
  return [...now, ...[...gone.values()].map((entry) => ({ ...entry, ...nothing }))]
    .map((entry) => lessFormer(entry, former.get(keyOf(entry))))
    .filter((entry) => entry.amount_cents !== 0 || entry.events_count !== 0 || !decimal(entry.units).isZero());
}

const lessFormer = (entry: SnapshotEntry, former: SnapshotEntry | undefined): SnapshotEntry =>
  former === undefined
    ? entry
    : {
        ...entry,
        units: decimalText(decimal(entry.units).minus(decimal(former.units))),
        events_count: entry.events_count - former.events_count,
        amount_cents: entry.amount_cents - former.amount_cents,
      };

const keyOf = ({ charge_id, charge_filter_id, grouped_by }: SnapshotEntry): string =>
  JSON.stringify([charge_id, charge_filter_id, Object.entries(grouped_by).sort(([a], [b]) => (a < b ? -1 : 1))]);
