import type { Temporal } from 'temporal-polyfill';
import { VISIBLE_INVOICE_STATUSES } from '../../../engine/invoices/invoice-states.ts';
import type { ProgressivePart } from '../../../engine/invoices/progressive-rest.ts';
import type { Currency } from '../../../engine/money/currency.ts';
import { type Decimal, decimal } from '../../../engine/money/decimal.ts';
import type { FeeType } from '../../../engine/taxes/choose-taxes.ts';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type {
  ChargeFilterId,
  ChargeId,
  CorrectionId,
  CustomerId,
  ExternalCustomerId,
  ExternalSubscriptionId,
  FeeId,
  FixedChargeId,
  InvoiceId,
  SubscriptionId,
  TaxId,
} from '../../../platform/ids.ts';
import { countMatching, type Total } from '../../../platform/lists/count.ts';
import { refuse } from '../../../platform/refusal.ts';
import { liveCustomerId } from '../../customers/customers/queries.ts';
import { waitingCallsOfFee } from '../../usage/unpriced-events/count-waiting.ts';

export const FEE_PAYMENT_STATUSES = ['pending', 'succeeded', 'failed', 'refunded'] as const;
export type FeePaymentStatus = (typeof FEE_PAYMENT_STATUSES)[number];

/** A tax of a fee or invoice, gathered as JSON by the query of its owner. */
export interface AppliedTaxJson {
  id: string;
  tax_id: TaxId | null;
  tax_code: string;
  tax_name: string;
  tax_rate: number;
  tax_description: string | null;
  amount_cents: number;
  amount_currency: string;
  created_at: string;
}

/** What a fee took over of a fee of a progressive invoice, as it is stored. Rule: progressive-billing.md#taken-over. */
export interface ProgressivePartJson {
  fee_id: FeeId;
  credit_cents: Decimal | number | string;
  part_cents: number;
}

/** The same as the rules see it; `standsFor` names the fee that stands for one whose invoice was made anew. */
export const progressivePartsOf = (
  stored: readonly ProgressivePartJson[] | null,
  standsFor: ReadonlyMap<FeeId, FeeId> = new Map(),
): ProgressivePart[] =>
  (stored ?? []).map(({ fee_id, credit_cents, part_cents }) => ({
    feeId: standsFor.get(fee_id) ?? fee_id,
    creditCents: decimal(credit_cents),
    partCents: part_cents,
  }));

export interface FeeRow {
  id: FeeId;
  customer_id: CustomerId;
  invoice_id: InvoiceId | null;
  subscription_id: SubscriptionId | null;
  charge_id: ChargeId | null;
  charge_filter_id: ChargeFilterId | null;
  fixed_charge_id: FixedChargeId | null;
  original_fee_id: FeeId | null;
  correction_id: CorrectionId | null;
  true_up_parent_fee_id: FeeId | null;
  true_up_fee_id: FeeId | null;
  fee_type: FeeType;
  item_id: string;
  item_code: string;
  item_name: string;
  item_description: string | null;
  invoice_display_name: string | null;
  amount_cents: number;
  amount_currency: Currency;
  precise_amount_cents: Decimal;
  unit_amount_cents: number;
  precise_unit_amount: Decimal;
  precise_coupons_amount_cents: Decimal;
  /** What was billed of it beyond the taxed amount. */
  untaxed_amount_cents: Decimal;
  progressive_parts: ProgressivePartJson[] | null;
  taxes_amount_cents: number;
  taxes_precise_amount_cents: Decimal;
  taxes_rate: Decimal;
  units: Decimal;
  total_aggregated_units: Decimal;
  events_count: number | null;
  /** Of a dynamic charge: calls of language models in its window without an amount; null: none. */
  unpriced_events: number | null;
  grouped_by: Record<string, string | null>;
  amount_details: Record<string, unknown>;
  pricing_unit_details: Record<string, unknown> | null;
  presentation_breakdowns: unknown[];
  pay_in_advance: boolean;
  invoiceable: boolean;
  event_transaction_id: string | null;
  external_subscription_id: ExternalSubscriptionId | null;
  payment_status: FeePaymentStatus;
  succeeded_at: Temporal.Instant | null;
  failed_at: Temporal.Instant | null;
  refunded_at: Temporal.Instant | null;
  from_datetime: Temporal.Instant | null;
  to_datetime: Temporal.Instant | null;
  created_at: Temporal.Instant;
  external_customer_id: ExternalCustomerId;
  self_billed: boolean;
  filter_values: Record<string, string[]> | null;
  filter_display_name: string | null;
  /** `base_rate`: the share of the fee that a tax engine taxed; null: all of it, by our own rates. */
  applied_taxes: (AppliedTaxJson & { base_rate: number | null })[];
}

const feeColumns = (db: Db) => db`
  fee.id, fee.customer_id, fee.invoice_id, fee.subscription_id, fee.charge_id, fee.charge_filter_id,
    fee.fixed_charge_id,
  fee.original_fee_id, fee.correction_id, fee.true_up_parent_fee_id, fee.fee_type, fee.item_id, fee.item_code,
  fee.item_name,
  fee.item_description, fee.invoice_display_name, fee.amount_cents, fee.amount_currency, fee.precise_amount_cents,
  fee.unit_amount_cents, fee.precise_unit_amount, fee.precise_coupons_amount_cents, fee.untaxed_amount_cents,
  fee.progressive_parts, fee.taxes_amount_cents,
  fee.taxes_precise_amount_cents, fee.taxes_rate, fee.units, fee.total_aggregated_units, fee.events_count,
  fee.grouped_by, fee.amount_details, fee.pricing_unit_details, fee.presentation_breakdowns, fee.pay_in_advance,
  fee.invoiceable, fee.event_transaction_id, fee.external_subscription_id, fee.payment_status, fee.succeeded_at,
  fee.failed_at, fee.refunded_at, fee.from_datetime, fee.to_datetime, fee.created_at,
  ${waitingCallsOfFee(db)} as unpriced_events,
  customer.external_id as external_customer_id, coalesce(invoice.self_billed, false) as self_billed,
  filter."values" as filter_values, filter.invoice_display_name as filter_display_name,
  (select true_up.id from fees true_up
   where true_up.organization_id = fee.organization_id and true_up.invoice_id = fee.invoice_id
     and true_up.true_up_parent_fee_id = fee.id and true_up.deleted_at is null) as true_up_fee_id,
  (select coalesce(json_agg(json_build_object('id', tax.id, 'tax_id', tax.tax_id, 'tax_code', tax.tax_code,
     'tax_name', tax.tax_name, 'tax_rate', tax.tax_rate, 'tax_description', tax.tax_description,
     'amount_cents', tax.amount_cents, 'amount_currency', tax.amount_currency, 'created_at', tax.created_at,
     'base_rate', tax.base_rate) order by tax.id), '[]')
   from fee_applied_taxes tax
   where tax.organization_id = fee.organization_id and tax.fee_id = fee.id) as applied_taxes`;

// The invoice is looked up by its key alone: while little is known of the table, every index that begins with the
// organization looks as good, and each fee read all its invoices.
const feeTables = (db: Db, fees = db`fees`) => db`
  ${fees} fee
  join customers customer on customer.organization_id = fee.organization_id and customer.id = fee.customer_id
  left join lateral (
    select organization_id, status, self_billed from invoices where id = fee.invoice_id offset 0
  ) invoice on invoice.organization_id = fee.organization_id
  left join charge_filters filter on filter.organization_id = fee.organization_id and filter.id = fee.charge_filter_id`;

// A fee of an invoice that the API does not show is not shown either.
const visible = ({ db, organizationId }: Scope) => db`
  fee.organization_id = ${organizationId} and fee.deleted_at is null
  and (fee.invoice_id is null or invoice.status = any (${VISIBLE_INVOICE_STATUSES}))`;

/**
 * Fees of one invoice in the order in which they were computed. They are found before they are sorted, since an index
 * in that order tempts the planner to read all fees of the organization.
 */
export const listFeesOfInvoice = ({ db, organizationId }: Scope, invoiceId: InvoiceId) => db<FeeRow[]>`
  select ${feeColumns(db)} from ${feeTables(
    db,
    db`(
      select * from fees
      where organization_id = ${organizationId} and invoice_id = ${invoiceId} and deleted_at is null
      offset 0)`,
  )}
  order by fee.created_at, fee.id`;

/** Fees by id, in the order in which they were computed: those that stand, or those that were deleted. */
export const listFeesByIds = (
  { db, organizationId }: Scope,
  ids: readonly FeeId[],
  which: 'standing' | 'deleted' = 'standing',
) => db<FeeRow[]>`
  select ${feeColumns(db)} from ${feeTables(db)}
  where fee.organization_id = ${organizationId} and fee.id = any (${ids}::uuid[])
    and fee.deleted_at is ${which === 'standing' ? db`null` : db`not null`}
  order by fee.created_at, fee.id`;

/** @throws Refusal 404 fee. Rule: usage-fees.md#endpoints. */
export async function getFee(scope: Scope, id: FeeId): Promise<FeeRow> {
  const { db } = scope;
  const [row] = await db<FeeRow[]>`
    select ${feeColumns(db)} from ${feeTables(db)} where ${visible(scope)} and fee.id = ${id}`;
  if (!row) throw refuse.notFound('fee');
  return row;
}

export interface FeeFilters {
  fee_type?: FeeType | undefined;
  payment_status?: FeePaymentStatus | undefined;
  external_subscription_id?: ExternalSubscriptionId | undefined;
  external_customer_id?: ExternalCustomerId | undefined;
  billable_metric_code?: string | undefined;
  currency?: string | undefined;
  event_transaction_id?: string | undefined;
  /** The upper bounds are exclusive. */
  created_at_from?: Temporal.Instant | undefined;
  created_at_to?: Temporal.Instant | undefined;
  succeeded_at_from?: Temporal.Instant | undefined;
  succeeded_at_to?: Temporal.Instant | undefined;
  failed_at_from?: Temporal.Instant | undefined;
  failed_at_to?: Temporal.Instant | undefined;
  refunded_at_from?: Temporal.Instant | undefined;
  refunded_at_to?: Temporal.Instant | undefined;
}

const TIMES = ['created_at', 'succeeded_at', 'failed_at', 'refunded_at'] as const;

function matching(scope: Scope, filters: FeeFilters) {
  const { db } = scope;
  const times = TIMES.flatMap((column) => {
    const [from, to] = [filters[`${column}_from`], filters[`${column}_to`]];
    return [
      from === undefined ? db`` : db`and fee.${db(column)} >= ${from}`,
      to === undefined ? db`` : db`and fee.${db(column)} < ${to}`,
    ];
  });
  // No table is joined: Postgres takes two columns that name one row for two conditions, and a page of a large
  // organization for one row, which it then finds by sorting all.
  return db`fee.organization_id = ${scope.organizationId} and fee.deleted_at is null
    and (
      select invoice.status = any (${VISIBLE_INVOICE_STATUSES}) from invoices invoice
      where invoice.organization_id = fee.organization_id and invoice.id = fee.invoice_id) is not false
    ${filters.fee_type === undefined ? db`` : db`and fee.fee_type = ${filters.fee_type}`}
    ${filters.payment_status === undefined ? db`` : db`and fee.payment_status = ${filters.payment_status}`}
    ${filters.external_subscription_id === undefined ? db`` : db`and fee.external_subscription_id = ${filters.external_subscription_id}`}
    ${filters.external_customer_id === undefined ? db`` : db`and fee.customer_id = ${liveCustomerId(scope, filters.external_customer_id)}`}
    ${filters.billable_metric_code === undefined ? db`` : db`and fee.fee_type = 'charge' and fee.item_code = ${filters.billable_metric_code}`}
    ${filters.currency === undefined ? db`` : db`and fee.amount_currency = upper(${filters.currency})`}
    ${filters.event_transaction_id === undefined ? db`` : db`and fee.event_transaction_id = ${filters.event_transaction_id}`}
    ${times}`;
}

/**
 * Where a list looks for fees. Those of an external subscription are read by its records, all of them: in the order of
 * a page Postgres would look for a few among all fees of the organization.
 */
const listedFees = ({ db, organizationId }: Scope, { external_subscription_id: externalId }: FeeFilters) =>
  externalId === undefined
    ? db`fees fee`
    : db`(
      select * from fees
      where organization_id = ${organizationId} and subscription_id = any (array(
        select id from subscriptions where organization_id = ${organizationId} and external_id = ${externalId}))
      offset 0) fee`;

/**
 * A page of fees, oldest first. What is read beside a fee is read for those of the page only, not for those before it.
 *
 * Rule: usage-fees.md#endpoints.
 */
export const listFees = (scope: Scope, filters: FeeFilters, page: { limit: number; offset: number }) => scope.db<
  FeeRow[]
>`
  select ${feeColumns(scope.db)} from ${feeTables(scope.db)}
  where fee.organization_id = ${scope.organizationId} and fee.id in (
    select fee.id from ${listedFees(scope, filters)}
    where ${matching(scope, filters)}
    order by fee.created_at, fee.id
    limit ${page.limit} offset ${page.offset})
  order by fee.created_at, fee.id`;

export const countFees = (scope: Scope, filters: FeeFilters): Promise<Total> =>
  countMatching(scope.db, scope.db`${listedFees(scope, filters)} where ${matching(scope, filters)}`);

/** Locks a fee that the API shows. */
export async function lockFee(scope: Scope, id: FeeId): Promise<{ invoice_id: InvoiceId | null } | undefined> {
  const { db } = scope;
  const [row] = await db<{ invoice_id: InvoiceId | null }[]>`
    select fee.invoice_id from ${feeTables(db)} where ${visible(scope)} and fee.id = ${id} for update of fee`;
  return row;
}

/** Sets the payment status and the time of it; times of other statuses are cleared. */
export const setPaymentStatus = (
  { db, organizationId }: Scope,
  id: FeeId,
  { status, now }: { status: FeePaymentStatus; now: Temporal.Instant },
) => db`
  update fees set payment_status = ${status}, updated_at = ${now},
    succeeded_at = ${status === 'succeeded' ? now : null}, failed_at = ${status === 'failed' ? now : null},
    refunded_at = ${status === 'refunded' ? now : null}
  where organization_id = ${organizationId} and id = ${id}`;
