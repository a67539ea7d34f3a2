import type { Temporal } from 'temporal-polyfill';
import { VISIBLE_INVOICE_STATUSES } from '../../../engine/invoices/invoice-states.ts';
import type { GroupedBy } from '../../../engine/metrics/group-values.ts';
import type { Cents } from '../../../engine/money/cents.ts';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type {
  ChargeFilterId,
  ExternalCustomerId,
  FeeId,
  InvoiceId,
  MetricId,
  SubscriptionId,
} from '../../../platform/ids.ts';
import { MOST_COUNTED } from './plan-weight.ts';
import type { ShownCharge } from './view.ts';

const BILLED = VISIBLE_INVOICE_STATUSES.filter((status) => status !== 'voided');

/** The charges window of a line of an invoice. */
export interface BilledPeriod {
  invoice_id: InvoiceId;
  subscription_id: SubscriptionId;
  /** `[from, to)`. */
  charges_from_datetime: Temporal.Instant;
  charges_to_datetime: Temporal.Instant;
  issuing_date: Temporal.PlainDate;
  currency: string;
}

/** A page of billed charges periods of an external subscription id, newest first, of the `newest` ones. */
export async function listBilledPeriods(
  { db, organizationId }: Scope,
  of: { externalCustomerId: ExternalCustomerId; externalId: string; newest: number },
  { limit, offset }: { limit: number; offset: number },
): Promise<{ rows: BilledPeriod[]; total: number }> {
  const rows = await db<(Partial<BilledPeriod> & { total: number })[]>`
    with billed as materialized (
      select line.id, line.invoice_id, line.subscription_id, line.charges_from_datetime, line.charges_to_datetime,
        invoice.issuing_date, invoice.currency
      from subscriptions s
      join customers customer on customer.organization_id = s.organization_id and customer.id = s.customer_id
        and customer.external_id = ${of.externalCustomerId} and customer.deleted_at is null
      join invoice_subscriptions line on line.organization_id = s.organization_id and line.subscription_id = s.id
        and line.charges_from_datetime < line.charges_to_datetime
        and line.invoicing_reason in ('subscription_periodic', 'subscription_terminating')
      join invoices invoice on invoice.organization_id = s.organization_id and invoice.id = line.invoice_id
        and invoice.invoice_type = 'subscription' and invoice.status = any (${BILLED})
      where s.organization_id = ${organizationId} and s.external_id = ${of.externalId}
      order by line.charges_from_datetime desc, line.id desc
      limit ${of.newest}
    )
    select page.*, counted.total
    from (select count(*) as total from billed) counted
    left join lateral (
      select * from billed order by charges_from_datetime desc, id desc limit ${limit} offset ${offset}
    ) page on true
    order by page.charges_from_datetime desc, page.id desc`;
  return {
    rows: rows.filter((row): row is BilledPeriod & { total: number } => row.invoice_id != null),
    total: rows[0]?.total ?? 0,
  };
}

export interface BilledFee {
  invoice_id: InvoiceId;
  subscription_id: SubscriptionId;
  charge_filter_id: ChargeFilterId | null;
  true_up_parent_fee_id: FeeId | null;
  grouped_by: GroupedBy;
  units: Decimal;
  total_aggregated_units: Decimal;
  events_count: number | null;
  amount_cents: Cents;
  taxes_precise_amount_cents: Decimal;
  pricing_unit_details: Record<string, unknown> | null;
  presentation_breakdowns: { presentation_by: GroupedBy; units: string }[];
  charge: ShownCharge;
}

/**
 * The weight of what `listBilledFees` would read: each fee with the filters of its charge, as far as `MOST_COUNTED`.
 * One statement.
 */
export async function weightOfBilled(
  { db, organizationId }: Scope,
  lines: readonly { invoice_id: InvoiceId; subscription_id: SubscriptionId }[],
): Promise<number> {
  const [row] = await db<{ weight: number }[]>`
    select count(*)::int as weight from (
      select from unnest(${lines.map((line) => line.invoice_id)}::uuid[],
        ${lines.map((line) => line.subscription_id)}::uuid[]) as line (invoice_id, subscription_id)
      join fees fee on fee.organization_id = ${organizationId} and fee.invoice_id = line.invoice_id
        and fee.subscription_id = line.subscription_id and fee.fee_type = 'charge' and fee.deleted_at is null
      left join charge_filters filter on filter.organization_id = fee.organization_id
        and filter.charge_id = fee.charge_id
      limit ${MOST_COUNTED}
    ) as counted`;
  return row!.weight;
}

/** Usage fees of lines of invoices with their charges, deleted ones too; of one metric when given. */
export const listBilledFees = (
  { db, organizationId }: Scope,
  lines: readonly { invoice_id: InvoiceId; subscription_id: SubscriptionId }[],
  metricId: MetricId | undefined,
) => db<BilledFee[]>`
  select fee.invoice_id, fee.subscription_id, fee.charge_filter_id, fee.true_up_parent_fee_id, fee.grouped_by,
    fee.units,
    fee.total_aggregated_units, fee.events_count, fee.amount_cents, fee.taxes_precise_amount_cents,
    fee.pricing_unit_details, fee.presentation_breakdowns,
    jsonb_build_object('id', charge.id, 'code', charge.code, 'charge_model', charge.charge_model,
      'invoice_display_name', charge.invoice_display_name,
      'metric', jsonb_build_object('id', metric.id, 'name', metric.name, 'code', metric.code,
        'aggregation_type', metric.aggregation_type),
      'filters', (
        select coalesce(jsonb_agg(jsonb_build_object('id', filter.id, 'invoice_display_name',
          filter.invoice_display_name, 'values', filter."values") order by filter.position, filter.id), '[]')
        from charge_filters filter
        where filter.organization_id = charge.organization_id and filter.charge_id = charge.id
          and (filter.deleted_at is null or exists (
            select from fees of_filter where of_filter.organization_id = filter.organization_id
              and of_filter.invoice_id = fee.invoice_id and of_filter.charge_filter_id = filter.id))
      )) as charge
  from unnest(${lines.map((line) => line.invoice_id)}::uuid[], ${lines.map((line) => line.subscription_id)}::uuid[])
    as line (invoice_id, subscription_id)
  join fees fee on fee.organization_id = ${organizationId} and fee.invoice_id = line.invoice_id
    and fee.subscription_id = line.subscription_id and fee.fee_type = 'charge' and fee.deleted_at is null
  join charges charge on charge.organization_id = fee.organization_id and charge.id = fee.charge_id
  join billable_metrics metric on metric.organization_id = fee.organization_id and metric.id = charge.billable_metric_id
  where ${metricId ?? null}::uuid is null or metric.id = ${metricId ?? null}::uuid
  order by charge.created_at, charge.id, fee.created_at, fee.id`;
