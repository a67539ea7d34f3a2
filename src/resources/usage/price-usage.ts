import type { Temporal } from 'temporal-polyfill';
import type { Period } from '../../engine/calendar/period.ts';
import { type GroupedBy, groupKeys } from '../../engine/metrics/group-values.ts';
import type { Decimal } from '../../engine/money/decimal.ts';
import type { Properties } from '../../engine/pricing/charge-model.ts';
import { type UsageFee, usageFee } from '../../engine/pricing/usage-fee.ts';
import type { PricedCharge, PricedFilter } from './priced-charges.ts';

/** Whose usage over which window. */
export interface Usage {
  externalSubscriptionId: string;
  window: Period;
  /** Id of the subscription whose start at `window.from` replaced another one. */
  startedAs?: string | undefined;
  /** Id of the subscription that replaced this one at the window's last instant. */
  replacedBy?: string | undefined;
  /** Only events with these property texts. */
  only?: Record<string, string> | undefined;
}

/** What counting is asked for one charge; `key` names it in the answer. Rules: usage-and-charges C.1, C.3, C.6. */
export function toCount(charge: PricedCharge, usage: Usage, key: string = charge.id) {
  const keysOf = (properties: Properties) => groupKeysOf(charge, properties, usage.only);
  const { from, to } = usage.window;
  return {
    key,
    externalSubscriptionId: usage.externalSubscriptionId,
    metric: charge.metric,
    filters: charge.filters.map((filter) => ({
      id: filter.id,
      created_at: filter.created_at,
      values: filter.values,
      groupKeys: keysOf(filter.properties),
    })),
    groupKeys: keysOf(charge.properties),
    window: {
      from: charge.metric.recurring ? null : from,
      to,
      ...(usage.startedAs === undefined ? {} : { startedAs: usage.startedAs }),
      ...(usage.replacedBy === undefined ? {} : { replacedBy: usage.replacedBy }),
    } satisfies { from: Temporal.Instant | null; to: Temporal.Instant; startedAs?: string; replacedBy?: string },
    ...(usage.only === undefined ? {} : { only: usage.only }),
  };
}

/** Pricing group keys of a charge or of one of its filters; keys that the caller fixed to one value are left out. */
function groupKeysOf(charge: PricedCharge, properties: Properties, only: Record<string, string> = {}): string[] {
  const keys = groupKeys(properties, { acceptsTargetWallet: charge.accepts_target_wallet });
  return keys.filter((key) => !Object.hasOwn(only, key));
}

/** Counted usage of one filter and group. */
export interface CountedShare {
  filterId: string | null;
  groupedBy: GroupedBy;
  units: Decimal;
  eventsCount: number;
}

/** A usage fee with the filter and the group that it is of; filter undefined is the default bucket. */
export interface PricedShare {
  filter: PricedFilter | undefined;
  groupedBy: GroupedBy;
  units: Decimal;
  fee: UsageFee;
}

/** Prices every share of a charge: a filter's with its own properties, the default bucket's with the charge's. */
export function priceShares(charge: PricedCharge, shares: readonly CountedShare[], exponent: number): PricedShare[] {
  const filters = new Map(charge.filters.map((filter) => [filter.id, filter]));
  return shares.map(({ filterId, groupedBy, units, eventsCount }) => {
    const filter = filterId === null ? undefined : filters.get(filterId);
    const fee = usageFee({
      charge_model: charge.charge_model,
      properties: (filter ?? charge).properties,
      usage: { units, eventsCount },
      metric: charge.metric,
      exponent,
    });
    return { filter, groupedBy, units, fee };
  });
}
