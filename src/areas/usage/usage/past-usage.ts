import { period, shownEnd, shownStart } from '../../../engine/calendar/period.ts';
import { cents, roundToCents, sumCents } from '../../../engine/money/cents.ts';
import { decimal, sum } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import { getRow } from '../../../platform/db/rows.ts';
import type { ExternalCustomerId, InvoiceId, SubscriptionId } from '../../../platform/ids.ts';
import { groupRows } from '../../../platform/lists/group-rows.ts';
import { limitOf, pageMeta } from '../../../platform/lists/pagination.ts';
import { seconds } from '../../../platform/schema/view.ts';
import { mapInSlices, type Pause } from '../../../platform/turns/turns.ts';
import { billableMetrics } from '../../catalog/billable-metrics/queries.ts';
import {
  type BilledFee,
  type BilledPeriod,
  listBilledFees,
  listBilledPeriods,
  weightOfBilled,
} from './billed-usage.ts';
import type { PastUsageQuery } from './schema.ts';
import { byMetricName } from './select-charges.ts';
import { chargeUsageView, type ShownShare } from './view.ts';

const MOST_PERIODS = 1_000_000;

/**
 * Billed charges periods of an external subscription id, newest first, with the usage that their invoices hold. An
 * unknown customer has none. Three statements, and one more when it is weighed.
 *
 * @throws Refusal 404 billable_metric
 * Rule: usage-reads.md#past-usage.
 */
export async function showPastUsage(
  ctx: Context,
  { external_customer_id, query }: { external_customer_id: ExternalCustomerId; query: PastUsageQuery },
) {
  const { external_subscription_id: externalId, billable_metric_code: code } = query;
  const metric = code === undefined ? undefined : await getRow(ctx, billableMetrics, code);
  const periods = await listBilledPeriods(
    ctx,
    { externalCustomerId: external_customer_id, externalId, newest: periodsCount(query) },
    limitOf(query),
  );
  const lines = periods.rows.map(({ invoice_id, subscription_id }) => ({ invoice_id, subscription_id }));
  if (lines.length > 0) {
    const subject = JSON.stringify(['past', external_customer_id, query]);
    await ctx.heavy?.admit(subject, () => weightOfBilled(ctx, lines));
  }
  const fees = lines.length === 0 ? [] : await listBilledFees(ctx, lines, metric?.id);
  const feesOf = groupRows(fees, keyOf);
  return {
    usage_periods: await mapInSlices(
      periods.rows,
      (row) => periodUsage(row, feesOf.get(keyOf(row)) ?? [], ctx.pause),
      ctx.pause,
    ),
    meta: pageMeta(query, periods.total),
  };
}

const keyOf = ({ invoice_id, subscription_id }: { invoice_id: InvoiceId; subscription_id: SubscriptionId }): string =>
  `${invoice_id} ${subscription_id}`;

/** Anything except a positive whole number requests all periods. */
const periodsCount = ({ periods_count }: PastUsageQuery): number =>
  periods_count !== undefined && /^[1-9]\d{0,5}$/.test(periods_count) ? Number(periods_count) : MOST_PERIODS;

async function periodUsage(row: BilledPeriod, fees: readonly BilledFee[], pause: Pause | undefined) {
  const window = period(row.charges_from_datetime, row.charges_to_datetime);
  const amountCents = sumCents(fees.map(({ amount_cents }) => amount_cents));
  const taxesCents = roundToCents(sum(fees.map(({ taxes_precise_amount_cents }) => taxes_precise_amount_cents)));
  const charges = [...groupRows(fees, ({ charge }) => charge.id).values()].sort(([a], [b]) =>
    byMetricName(a!.charge, b!.charge),
  );
  return {
    from_datetime: seconds(shownStart(window)),
    to_datetime: seconds(shownEnd(window)),
    issuing_date: row.issuing_date.toString(),
    svc_invoice_id: row.invoice_id,
    currency: row.currency,
    amount_cents: amountCents,
    taxes_amount_cents: taxesCents,
    total_amount_cents: amountCents + taxesCents,
    charges_usage: await mapInSlices(
      charges,
      async (own) => {
        const { charge, pricing_unit_details: details } = own[0]!;
        const denomination = details && {
          pricing_unit: { short_name: String(details.short_name) },
          conversion_rate: decimal(String(details.conversion_rate)),
        };
        const shares = await mapInSlices(own, billedShare, pause);
        return chargeUsageView({ ...charge, ...denomination }, shares, row.currency, { pause });
      },
      pause,
    ),
  };
}

const billedShare = (fee: BilledFee): ShownShare => ({
  filterId: fee.charge_filter_id,
  groupedBy: fee.grouped_by,
  // A true-up has one unit of its own that is not usage.
  units: fee.true_up_parent_fee_id === null ? fee.units : decimal(0),
  totalUnits: fee.true_up_parent_fee_id === null ? fee.total_aggregated_units : decimal(0),
  eventsCount: fee.events_count ?? 0,
  amountCents: fee.amount_cents,
  pricingUnitCents: fee.pricing_unit_details === null ? null : cents(Number(fee.pricing_unit_details.amount_cents)),
  presented: fee.presentation_breakdowns.map(({ presentation_by, units }) => ({
    presentationBy: presentation_by,
    units: decimal(units),
  })),
});
