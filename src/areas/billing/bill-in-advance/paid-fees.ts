import type { Temporal } from 'temporal-polyfill';
import type { Decimal } from '../../../engine/money/decimal.ts';
import { freeCode } from '../../../engine/taxes/provider/name-taxes.ts';
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

/** A tax of fees, added up over them. */
export interface GatheredTax {
  tax_id: TaxId | null;
  tax_code: string;
  tax_name: string;
  tax_rate: Decimal;
  tax_description: string | null;
  fees_amount_cents: number;
  /** The part of them that a tax engine taxed; null for our own rates. */
  taxable_base_amount_cents: number | null;
  amount_cents: number;
}

/**
 * Taxes of fees, each added up. Fees were taxed at different times, so that two taxes may have one code: the younger
 * one gets a code of its own on its fees, because an invoice and its notes know a tax by its code.
 *
 * Rule: taxes.md#gathered-paid-fees.
 */
export async function gatherTaxes(scope: Scope, feeIds: readonly FeeId[]): Promise<GatheredTax[]> {
  const taxes = await listTaxesOfFees(scope, feeIds);
  const codes = new Set(taxes.map(({ tax_code }) => tax_code));
  const seen = new Set<string>();
  const gathered: GatheredTax[] = [];
  for (const tax of taxes) {
    const code = seen.has(tax.tax_code) ? freeCode(tax.tax_code, codes) : tax.tax_code;
    if (code !== tax.tax_code) await renameTax(scope, feeIds, { tax, code });
    codes.add(code);
    seen.add(code);
    gathered.push({ ...tax, tax_code: code });
  }
  return gathered;
}

const listTaxesOfFees = ({ db, organizationId }: Scope, feeIds: readonly FeeId[]) => db<GatheredTax[]>`
  select tax.tax_id, tax.tax_code, tax.tax_name, tax.tax_rate, tax.tax_description,
    sum(fee.amount_cents)::bigint as fees_amount_cents, sum(tax.amount_cents)::bigint as amount_cents,
    case when bool_or(tax.base_rate is not null)
      then round(sum(fee.amount_cents * coalesce(tax.base_rate, 1)))::bigint end as taxable_base_amount_cents
  from fee_applied_taxes tax
  join fees fee on fee.organization_id = tax.organization_id and fee.id = tax.fee_id
  where tax.organization_id = ${organizationId} and tax.fee_id = any (${feeIds}::uuid[])
  group by tax.tax_id, tax.tax_code, tax.tax_name, tax.tax_rate, tax.tax_description
  order by min(tax.id::text)`;

const renameTax = (
  { db, organizationId }: Scope,
  feeIds: readonly FeeId[],
  { tax, code }: { tax: GatheredTax; code: string },
) => db`
  update fee_applied_taxes set tax_code = ${code}
  where organization_id = ${organizationId} and fee_id = any (${feeIds}::uuid[]) and tax_code = ${tax.tax_code}
    and tax_name = ${tax.tax_name} and tax_rate = ${tax.tax_rate} and tax_id is not distinct from ${tax.tax_id}
    and tax_description is not distinct from ${tax.tax_description}`;

/** Nothing of the invoice is due, because its fees were paid one by one. */
export const markPaid = ({ db, organizationId }: Scope, invoiceId: InvoiceId) => db`
  update invoices set total_paid_amount_cents = total_amount_cents
  where organization_id = ${organizationId} and id = ${invoiceId}`;
