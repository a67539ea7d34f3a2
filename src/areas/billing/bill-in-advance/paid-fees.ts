import type { Temporal } from 'temporal-polyfill';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { BillingEntityId, CustomerId, FeeId, InvoiceId, SubscriptionId, TaxId } from '../../../platform/ids.ts';

/** A standalone fee that was paid. */
export interface PaidFee {
  id: FeeId;
  subscription_id: SubscriptionId;
  billing_entity_id: BillingEntityId;
  amount_currency: string;
  amount_cents: number;
  taxes_amount_cents: number;
  purchase_order_number: string | null;
}

/**
 * Standalone fees of charges that regroup theirs, paid by `at`, of all records of the run's external ids; locked. While
 * every subscription of the run goes on, only those of periods that are over.
 *
 * Rule: in-advance.md#gathering-paid-fees (1), in-advance.md#gathering-paid-fees (2).
 */
export const listPaidFees = (
  { db, organizationId }: Scope,
  run: { customerId: CustomerId; subscriptionIds: readonly SubscriptionId[]; at: Temporal.Instant },
) => db<PaidFee[]>`
  with run as materialized (
    select s.external_id, s.status = 'active' and not exists (
        select from subscriptions next where next.organization_id = s.organization_id
          and next.previous_subscription_id = s.id and next.status in ('active', 'terminated')) as goes_on
    from subscriptions s
    where s.organization_id = ${organizationId} and s.id = any (${run.subscriptionIds}::uuid[])
  )
  select fee.id, fee.subscription_id, fee.billing_entity_id, fee.amount_currency, fee.amount_cents,
    fee.taxes_amount_cents, s.purchase_order_number
  from fees fee
  join subscriptions s on s.organization_id = fee.organization_id and s.id = fee.subscription_id
    and s.status in ('active', 'terminated')
  join charges charge on charge.organization_id = fee.organization_id and charge.id = fee.charge_id
    and charge.pay_in_advance and not charge.invoiceable and charge.regroup_paid_fees = 'invoice'
  where fee.organization_id = ${organizationId} and fee.customer_id = ${run.customerId} and fee.invoice_id is null
    and fee.deleted_at is null and fee.payment_status = 'succeeded' and fee.succeeded_at <= ${run.at}
    and s.external_id in (select external_id from run)
    and (fee.to_datetime is null or fee.to_datetime <= ${run.at} or not (select bool_and(goes_on) from run))
  order by fee.created_at, fee.id
  for update of fee`;

export const attachFees = (
  { db, organizationId }: Scope,
  invoiceId: InvoiceId,
  { feeIds, now }: { feeIds: readonly FeeId[]; now: Temporal.Instant },
) => db`
  update fees set invoice_id = ${invoiceId}, updated_at = ${now}
  where organization_id = ${organizationId} and id = any (${feeIds}::uuid[])`;

/** Taxes of fees, each added up. */
export const listTaxesOfFees = ({ db, organizationId }: Scope, feeIds: readonly FeeId[]) => db<
  {
    tax_id: TaxId | null;
    tax_code: string;
    tax_name: string;
    tax_rate: Decimal;
    tax_description: string | null;
    fees_amount_cents: number;
    amount_cents: number;
  }[]
>`
  select tax.tax_id, tax.tax_code, tax.tax_name, tax.tax_rate, tax.tax_description,
    sum(fee.amount_cents)::bigint as fees_amount_cents, sum(tax.amount_cents)::bigint as amount_cents
  from fee_applied_taxes tax
  join fees fee on fee.organization_id = tax.organization_id and fee.id = tax.fee_id
  where tax.organization_id = ${organizationId} and tax.fee_id = any (${feeIds}::uuid[])
  group by tax.tax_id, tax.tax_code, tax.tax_name, tax.tax_rate, tax.tax_description
  order by min(tax.id::text)`;

/** Nothing of the invoice is due, because its fees were paid one by one. */
export const markPaid = ({ db, organizationId }: Scope, invoiceId: InvoiceId) => db`
  update invoices set total_paid_amount_cents = total_amount_cents
  where organization_id = ${organizationId} and id = ${invoiceId}`;
