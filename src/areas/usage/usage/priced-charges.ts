import { Temporal } from 'temporal-polyfill';
import type { AggregationType } from '../../../engine/metrics/aggregation-types.ts';
import type { FilterValues } from '../../../engine/metrics/choose-filter.ts';
import type { RoundingFunction } from '../../../engine/metrics/round-units.ts';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Properties } from '../../../engine/pricing/charge-model.ts';
import type { ChargeModelName } from '../../../engine/pricing/charge-models.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { PlanId, PricingUnitId } from '../../../platform/ids.ts';
import { mapInSlices, type Pause } from '../../../platform/turns/turns.ts';

export interface PricedFilter {
  id: string;
  invoice_display_name: string | null;
  values: FilterValues;
  properties: Properties;
  created_at: Temporal.Instant;
}

export interface PricedMetric {
  id: string;
  code: string;
  name: string;
  description: string | null;
  aggregation_type: AggregationType;
  field_name: string | null;
  recurring: boolean;
  rounding_function: RoundingFunction | null;
  rounding_precision: number | null;
  filters: { key: string; values: string[] }[];
}

/** A charge with everything needed to count and price its usage. */
export interface PricedCharge {
  id: string;
  plan_id: PlanId;
  code: string;
  charge_model: ChargeModelName;
  invoice_display_name: string | null;
  pay_in_advance: boolean;
  prorated: boolean;
  invoiceable: boolean;
  min_amount_cents: number;
  accepts_target_wallet: boolean;
  properties: Properties;
  /** Pricing unit of its prices, if they are not in the currency of the plan. */
  pricing_unit: { id: PricingUnitId; code: string; short_name: string } | null;
  /** Main units of the currency per pricing unit. */
  conversion_rate: Decimal | null;
  metric: PricedMetric;
  /** In their order. */
  filters: PricedFilter[];
}

type Row = Omit<PricedCharge, 'filters'> & { filters: (Omit<PricedFilter, 'created_at'> & { created_at: string })[] };

/**
 * Live charges of some plans in the order in which they were made: one statement.
 *
 * alsoIds charges that are read even if deleted, with all filters that they ever had
 * pause    called between two charges
 */
export async function listPricedCharges(
  { db, organizationId }: Scope,
  planIds: readonly PlanId[],
  { alsoIds = [], pause }: { alsoIds?: readonly string[]; pause?: Pause | undefined } = {},
): Promise<PricedCharge[]> {
  // Measured: given as the value itself, Postgres plans every call again, 451 µs; from a subquery it does not, 184 µs.
  const ids = db`(array(select unnest(${planIds}::uuid[])))`;
  const others = alsoIds.length === 0 ? undefined : db`charge.id = any (${alsoIds}::uuid[])`;
  const rows = await db<Row[]>`
    select charge.id, charge.plan_id, charge.code, charge.charge_model, charge.invoice_display_name,
      charge.pay_in_advance, charge.prorated, charge.invoiceable, charge.min_amount_cents,
      charge.accepts_target_wallet, charge.properties, charge.conversion_rate,
      case when unit.id is not null then
        jsonb_build_object('id', unit.id, 'code', unit.code, 'short_name', unit.short_name) end as pricing_unit,
      jsonb_build_object('id', metric.id, 'code', metric.code, 'name', metric.name, 'description', metric.description,
        'aggregation_type', metric.aggregation_type, 'field_name', metric.field_name, 'recurring', metric.recurring,
        'rounding_function', metric.rounding_function, 'rounding_precision', metric.rounding_precision,
        'filters', (
          select coalesce(jsonb_agg(jsonb_build_object('key', declared.key, 'values', declared."values")
            order by declared.key), '[]')
          from billable_metric_filters declared
          where declared.organization_id = metric.organization_id and declared.billable_metric_id = metric.id
        )) as metric,
      (select coalesce(jsonb_agg(jsonb_build_object('id', filter.id, 'invoice_display_name',
         filter.invoice_display_name, 'values', filter."values", 'properties', filter.properties,
         'created_at', filter.created_at) order by filter.position, filter.id), '[]')
       from charge_filters filter
       where filter.organization_id = charge.organization_id and filter.charge_id = charge.id
         and (filter.deleted_at is null ${others ? db`or ${others}` : db``})) as filters
    from charges charge
    join billable_metrics metric on metric.organization_id = charge.organization_id
      and metric.id = charge.billable_metric_id
    left join pricing_units unit on unit.organization_id = charge.organization_id and unit.id = charge.pricing_unit_id
    where charge.organization_id = ${organizationId}
      and (charge.plan_id = any ${ids} and charge.deleted_at is null ${others ? db`or ${others}` : db``})
    order by charge.created_at, charge.id`;
  const instantOf = instants();
  const chargeOf = (row: Row): PricedCharge => ({
    ...row,
    filters: row.filters.map((filter) => ({ ...filter, created_at: instantOf(filter.created_at) })),
  });
  return mapInSlices(rows, chargeOf, pause);
}

/** Parses instants with a cache, because thousands of filters sent together share one instant. */
function instants(): (text: string) => Temporal.Instant {
  const known = new Map<string, Temporal.Instant>();
  return (text) => {
    const instant = known.get(text) ?? Temporal.Instant.from(text);
    known.set(text, instant);
    return instant;
  };
}
