import type { Temporal } from 'temporal-polyfill';
import type { AggregationType } from '../../../engine/metrics/aggregation-types.ts';
import type { FilterValues } from '../../../engine/metrics/choose-filter.ts';
import type { GroupedBy } from '../../../engine/metrics/group-values.ts';
import type { PresentedUnits } from '../../../engine/metrics/presentation.ts';
import type { Moves, Proration } from '../../../engine/metrics/proration.ts';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type {
  ChargeFilterId,
  ChargeId,
  ExternalSubscriptionId,
  OrganizationId,
  SubscriptionId,
} from '../../../platform/ids.ts';
import type { Pause } from '../../../platform/turns/turns.ts';

/** Usage to count: any number of charges, of one or more subscriptions of one organization. */
export interface CountRequest {
  organizationId: OrganizationId;
  charges: readonly ChargeToCount[];
  /** `scan` reads raw events only; it is the reference for rollups. */
  mode?: 'rollup' | 'scan';
  /** Called between two shares. */
  pause?: Pause | undefined;
}

/** One charge over one window. */
export interface ChargeToCount {
  /** The caller's key of the entry, which the answer repeats. */
  key: string;
  externalSubscriptionId: ExternalSubscriptionId;
  metric: MetricToCount;
  /** In the order in which fees appear. */
  filters: readonly FilterToCount[];
  /** Group keys of the default bucket: the engine's `groupKeys(charge.properties, …)`. */
  groupKeys: readonly string[];
  window: UsageWindow;
  /**
   * Only events with one of these texts under each key (usage-reads.md#current-usage `group`); leave the keys out of
   * the group keys.
   */
  only?: WantedTexts;
  /** The charges period and its days; needed where units depend on time. */
  proration?: Proration;
  /** Whether units are weighted by days. */
  isProrated?: boolean;
  /** Late events that are not counted; forces a read from raw events. */
  leftOut?: LateEvents;
  /** Figures of single events that pricing needs beside the units. */
  needs?: 'values' | 'amounts' | 'moves';
  /** For sums: only this many first values of each share are needed; there may be more. */
  firstValues?: number;
  /** Keys that split the units of each share for presentation; filters have none of their own. */
  presentationKeys?: readonly string[];
  /** The state from which a weighted sum of a recurring metric continues. */
  carriedOver?: CarriedOver;
}

/** Late events: they came after a count, and no correction has taken them in since (everywhere.md#corrections). */
export type LateEvents = { afterId: string } | { since: Temporal.Instant };

/** Texts by property key, of which an event must have one. */
export type WantedTexts = Readonly<Record<string, readonly string[]>>;

/** Key of the fees of earlier periods with the running total. Rule: aggregation.md#weighted-sum "initial". */
export interface CarriedOver {
  subscriptionId: SubscriptionId;
  chargeId: ChargeId;
  /** Whether the total starts from events before the subscription if there is no such fee. */
  replacesAnother: boolean;
}

/** The columns of a metric that counting needs; structural: its row can be passed. */
export interface MetricToCount {
  id: string;
  code: string;
  aggregation_type: AggregationType;
  field_name: string | null;
  /** Filters of the metric, which give the values of a wildcard. */
  filters: readonly { key: string; values: readonly string[] }[];
}

export interface FilterToCount {
  id: string;
  created_at: Temporal.Instant;
  values: FilterValues;
  /** Group keys of the filter's own properties. */
  groupKeys: readonly string[];
}

/**
 * Instants `[from, to)`: `to` of a terminated subscription is `terminated_at` + 1 µs. Counting cuts `from` to the
 * millisecond; null = without a start (recurring metrics, aggregation.md#recurring).
 *
 * Where one subscription of an external id ends and its successor starts at the same instant, an event at that instant
 * counts for the old one when its id is smaller than the successor's, else for the new one
 * (events.md#subscription-of-an-event).
 */
export interface UsageWindow {
  from: Temporal.Instant | null;
  to: Temporal.Instant;
  /** Whether another window ends at `from`, which is then not cut. */
  isContinued?: boolean;
  /** Id of the subscription that started at `from`, if it replaced another one at that instant. */
  startedAs?: string;
  /** Id of the subscription that replaced this one at `to` − 1 µs. */
  replacedBy?: string;
}

/** Usage of one charge, one share per filter and group, the default bucket last. */
export interface CountedCharge {
  key: string;
  shares: CountedShare[];
}

export interface CountedShare {
  /** Null is the default bucket. */
  filterId: ChargeFilterId | null;
  groupedBy: GroupedBy;
  /** Not rounded. */
  units: Decimal;
  eventsCount: number;
  /** Ignoring time, of prorated charges. */
  fullUnits?: Decimal;
  moves?: Moves;
  /** The running total at the end, of weighted sums. */
  totalUnits?: Decimal;
  /** The values of single events in processing order, when asked for. */
  values?: readonly Decimal[];
  /** Sum over the events, when asked for. */
  preciseTotalAmountCents?: Decimal;
  /** Units by the presentation keys, when there are some. */
  presented?: readonly PresentedUnits[];
}
