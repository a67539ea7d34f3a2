import { instantOf } from '../../../engine/explain/read-stored-inputs.ts';
import type { GroupedBy } from '../../../engine/metrics/group-values.ts';
import { type Decimal, decimal } from '../../../engine/money/decimal.ts';
import type { ChargeFilterId, ChargeId, SubscriptionId } from '../../../platform/ids.ts';
import type { PricedCharge } from '../../usage/usage/priced-charges.ts';
import type { BilledLine } from '../build-invoice/lines.ts';
import type { IssuedFee } from './issued-fees.ts';

export type BilledItemKind = 'usage' | 'true_up' | 'commitment';

/** What a difference is about: a filter and group of a charge, its true-up, or a commitment. */
export interface BilledItemKey {
  subscription_id: SubscriptionId;
  kind: BilledItemKind;
  charge_id: ChargeId | null;
  charge_filter_id: ChargeFilterId | null;
  grouped_by: GroupedBy;
}

export const keyOfBilledItem = ({
  subscription_id,
  kind,
  charge_id,
  charge_filter_id,
  grouped_by,
}: BilledItemKey): string =>
  JSON.stringify([
    subscription_id,
    kind,
    charge_id,
    charge_filter_id,
    Object.entries(grouped_by).sort(([a], [b]) => (a < b ? -1 : 1)),
  ]);

/** Whether a fee's amount was set by hand, so that usage does not change it. */
export const isSetByHand = ({ inputs, isChanged }: IssuedFee): boolean =>
  isChanged || inputs?.facts?.kind === 'by_hand' || (inputs?.manual_adjustment?.units ?? null) !== null;

/**
 * A charge with the terms by which the fees of an issued invoice were priced. Terms that these fees do not show, such
 * as the price of a filter without fees, are the current ones.
 *
 * Rule: event-corrections.md#difference "stored inputs".
 */
export function chargeAsBilled(charge: PricedCharge, issued: readonly IssuedFee[]): PricedCharge {
  const stored = issued.flatMap(({ inputs }) => (inputs === null ? [] : [inputs]));
  const [first] = stored;
  if (first === undefined) return charge;
  const { price, metric } = first;
  const propertiesOf = (filterId: ChargeFilterId | null) =>
    stored.find((inputs) => (inputs.price.charge_filter_id ?? null) === filterId)?.price.properties;
  const now = new Map(charge.filters.map((filter) => [filter.id, filter]));
  return {
    ...charge,
    charge_model: price.charge_model ?? charge.charge_model,
    prorated: price.prorated ?? charge.prorated,
    min_amount_cents: price.min_amount_cents ?? charge.min_amount_cents,
    conversion_rate: rateOf(price.pricing_unit_rate),
    properties: propertiesOf(null) ?? charge.properties,
    metric: metric === null ? charge.metric : { ...charge.metric, ...metric, filters: [...metric.filters].map(copied) },
    filters: (price.sibling_filters ?? charge.filters).flatMap(({ id, values, created_at }) => {
      const filter = now.get(id);
      const properties = propertiesOf(id) ?? filter?.properties;
      return properties === undefined
        ? []
        : [
            {
              id,
              invoice_display_name: filter?.invoice_display_name ?? null,
              values,
              properties,
              created_at: typeof created_at === 'string' ? instantOf(created_at) : created_at,
            },
          ];
    }),
  };
}

const copied = ({ key, values }: { key: string; values: readonly string[] }) => ({ key, values: [...values] });

const rateOf = (rate: string | null | undefined): Decimal | null =>
  rate === null || rate === undefined ? null : decimal(rate);

/** A line with the days and the succession by which the fees of a charge were computed. */
export function lineAsBilled(line: BilledLine, issued: readonly IssuedFee[]): BilledLine {
  const stored = issued.find(({ inputs }) => inputs?.window.charges_duration_days !== undefined)?.inputs?.window;
  if (stored === undefined) return line;
  return {
    ...line,
    zone: stored.timezone ?? line.zone,
    succession: stored.succession ?? line.succession,
    windows: { ...line.windows, chargesDurationDays: stored.charges_duration_days! },
  };
}

/**
 * The neighbouring subscriptions that share events at the edges of the window, as they were when the fees were made.
 */
export const sharedAsBilled = (
  issued: readonly IssuedFee[],
): { startedAs?: string; replacedBy?: string } | undefined => {
  const stored = issued.find(({ inputs }) => inputs !== null)?.inputs?.window;
  return (
    stored && {
      ...(stored.startedAs === undefined ? {} : { startedAs: stored.startedAs }),
      ...(stored.replacedBy === undefined ? {} : { replacedBy: stored.replacedBy }),
    }
  );
};
