import type { Temporal } from 'temporal-polyfill';
import type { StoredTaxProvider } from '../../../engine/explain/stored-inputs.ts';
import type { Draft } from '../../../engine/invoices/draft.ts';
import type { InvoiceType } from '../../../engine/invoices/invoice-types.ts';
import { TARGET_WALLET_KEY } from '../../../engine/metrics/group-values.ts';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { FeeType } from '../../../engine/taxes/choose-taxes.ts';
import type { CollectedTaxes } from '../../../engine/taxes/provider/collect-taxes.ts';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type {
  AddOnId,
  BillingEntityId,
  ChargeId,
  CustomerId,
  FeeId,
  FixedChargeId,
  InvoiceId,
  MetricId,
  PlanId,
  TaxId,
} from '../../../platform/ids.ts';
import { listFeeInputs } from '../../invoices/fee-explanations/queries.ts';
import { digestOf } from '../build-invoice/fee-inputs.ts';
import { type FeeOwner, insertFeeTaxes } from '../build-invoice/writes.ts';

export interface PendingInvoice {
  id: InvoiceId;
  customer_id: CustomerId;
  billing_entity_id: BillingEntityId;
  invoice_type: InvoiceType;
  currency: string;
  issuing_date: Temporal.PlainDate;
  expected_finalization_date: Temporal.PlainDate;
  payment_due_date: Temporal.PlainDate;
  net_payment_term: number;
  coupons_amount_cents: number;
  progressive_billing_credit_amount_cents: number;
  sub_total_excluding_taxes_amount_cents: number;
  is_recurring: boolean;
  /** Whether its taxes were unknown until now. */
  has_failed: boolean;
  created_at: Temporal.Instant;
}

/**
 * Locks an invoice that waits for its taxes, or that has failed for want of them; undefined when it is in no such
 * status.
 */
export async function lockPendingInvoice(
  { db, organizationId }: Scope,
  id: InvoiceId,
  statuses: readonly ('pending' | 'failed')[] = ['pending'],
): Promise<PendingInvoice | undefined> {
  const [row] = await db<PendingInvoice[]>`
    select id, customer_id, status = 'failed' as has_failed, billing_entity_id, invoice_type, currency, issuing_date,
      expected_finalization_date, payment_due_date, net_payment_term, coupons_amount_cents,
      progressive_billing_credit_amount_cents, sub_total_excluding_taxes_amount_cents, created_at,
      exists (select from invoice_subscriptions line
        where line.organization_id = invoices.organization_id and line.invoice_id = invoices.id
          and line.recurring) as is_recurring
    from invoices where organization_id = ${organizationId} and id = ${id} and status = any (${statuses})
    for update`;
  return row;
}

/** Billing instant of the lines of an invoice. */
export async function readBilledAt(
  { db, organizationId }: Scope,
  invoiceId: InvoiceId,
): Promise<Temporal.Instant | undefined> {
  const [row] = await db<{ at: Temporal.Instant | null }[]>`
    select min(billed_at) as at from invoice_subscriptions
    where organization_id = ${organizationId} and invoice_id = ${invoiceId}`;
  return row?.at ?? undefined;
}

export interface StoredFee {
  id: FeeId;
  fee_type: FeeType;
  amount_cents: number;
  precise_amount_cents: Decimal;
  precise_coupons_amount_cents: Decimal;
  charge_id: ChargeId | null;
  fixed_charge_id: FixedChargeId | null;
  billable_metric_id: MetricId | null;
  plan_id: PlanId | null;
  add_on_id: AddOnId | null;
  target_wallet_code: string | null;
  /** Taxes that it has already. */
  tax_ids: TaxId[];
}

/** The fees of an invoice, in their order. */
export const listStoredFees = ({ db, organizationId }: Scope, invoiceId: InvoiceId) => db<StoredFee[]>`
  select fee.id, fee.fee_type, fee.amount_cents, fee.precise_amount_cents, fee.precise_coupons_amount_cents,
    fee.charge_id, fee.fixed_charge_id, charge.billable_metric_id, s.plan_id,
    case when fee.fee_type = 'add_on' then fee.item_id end as add_on_id,
    fee.grouped_by ->> ${TARGET_WALLET_KEY} as target_wallet_code,
    array(
      select applied.tax_id from fee_applied_taxes applied
      where applied.organization_id = fee.organization_id and applied.fee_id = fee.id and applied.tax_id is not null
    ) as tax_ids
  from fees fee
  left join charges charge on charge.organization_id = fee.organization_id and charge.id = fee.charge_id
  left join subscriptions s on s.organization_id = fee.organization_id and s.id = fee.subscription_id
  where fee.organization_id = ${organizationId} and fee.invoice_id = ${invoiceId} and fee.deleted_at is null
  order by fee.id`;

/** Gives stored fees their taxes, in their stored inputs too. */
export async function storeFeeTaxes(db: Db, owner: FeeOwner, draft: Draft): Promise<void> {
  const rows = draft.fees.map((fee) => ({
    id: fee.key,
    taxes_amount_cents: fee.taxesAmountCents,
    taxes_precise_amount_cents: fee.taxesPreciseAmountCents,
    taxes_rate: fee.taxesRate,
    precise_credit_notes_amount_cents: fee.preciseCreditNotesAmountCents,
  }));
  const ids = rows.map(({ id }) => id);
  await db`
    delete from fee_applied_taxes where organization_id = ${owner.organizationId} and fee_id = any (${ids}::uuid[])`;
  await db`
    delete from invoice_applied_taxes
    where organization_id = ${owner.organizationId} and invoice_id = ${owner.invoiceId}`;
  await db`
    update fees fee
    set taxes_amount_cents = taxed.taxes_amount_cents, taxes_precise_amount_cents = taxed.taxes_precise_amount_cents,
      taxes_rate = taxed.taxes_rate, precise_credit_notes_amount_cents = taxed.precise_credit_notes_amount_cents
    from jsonb_to_recordset(${json(rows)}::jsonb) as taxed (id uuid, taxes_amount_cents bigint,
      taxes_precise_amount_cents numeric, taxes_rate numeric, precise_credit_notes_amount_cents numeric)
    where fee.organization_id = ${owner.organizationId} and fee.id = taxed.id`;
  await insertFeeTaxes(db, owner, draft);
  await rewriteInputs({ db, organizationId: owner.organizationId }, draft);
}

/** The taxes of a fee become its own, whatever it had in common with others. */
async function rewriteInputs({ db, organizationId }: Scope, draft: Draft): Promise<void> {
  const feeOf = new Map(draft.fees.map((fee) => [fee.key, fee]));
  const stored = await listFeeInputs({ db, organizationId }, [...feeOf.keys()]);
  const rows = stored.map(({ fee_id, inputs }) => {
    const { taxes: ours, collected } = feeOf.get(fee_id)!;
    const taxes = ours.map((tax) => ({ code: tax.code, rate: String(tax.rate), ...levelOf(tax) }));
    const tax_provider = collected === undefined ? {} : { tax_provider: providerInputs(collected) };
    const tail = { ...inputs.tail, taxes, ...tax_provider };
    return { fee_id, tail, digest: digestOf({ ...inputs, tail }).toString('hex') };
  });
  await db`
    update fee_inputs stored
    set inputs = jsonb_set(stored.inputs, '{tail}', rewritten.tail), digest = decode(rewritten.digest, 'hex')
    from jsonb_to_recordset(${json(rows)}::jsonb) as rewritten (fee_id uuid, tail jsonb, digest text)
    where stored.organization_id = ${organizationId} and stored.fee_id = rewritten.fee_id`;
}

/** The record that a tax came from, where it is known. */
const levelOf = (tax: object): object => ('holder' in tax ? { level: tax.holder } : {});

/** What a tax engine answered about a fee. Rule: fee-explanations.md "tail". */
const providerInputs = ({ netCents, collectedCents, taxes }: CollectedTaxes): StoredTaxProvider => ({
  net_cents: netCents,
  collected_cents: collectedCents,
  taxes: taxes.map(({ code, name, description, rate, amountCents }) => ({
    code,
    name,
    description,
    rate: rate.toFixed(),
    amount_cents: amountCents.toFixed(),
  })),
});
