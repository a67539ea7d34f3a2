import type { Temporal } from 'temporal-polyfill';
import type { Draft } from '../../../engine/invoices/draft.ts';
import type { InvoiceStatus } from '../../../engine/invoices/invoice-states.ts';
import type { InvoiceDates } from '../../../engine/invoices/issuing-and-due-dates.ts';
import { decimalText } from '../../../engine/money/decimal.ts';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { BillingEntityId, CustomerId, FeeId, InvoiceId, OrganizationId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { issuerSnapshot } from '../../customers/billing-entities/issuer-snapshot.ts';
import type { ProgressivePartJson } from '../../invoices/fees/queries.ts';
import { type NumberedInvoice, nextNumber } from '../../invoices/invoices/numbering.ts';
import type { LineFee } from './fees.ts';

/** Deletes what a former computation of a draft stored. */
export async function clearComputation({ db, organizationId }: Scope, invoiceId: InvoiceId): Promise<void> {
  await db`delete from fees where organization_id = ${organizationId} and invoice_id = ${invoiceId}`;
  await db`delete from invoice_applied_taxes where organization_id = ${organizationId} and invoice_id = ${invoiceId}`;
  await db`delete from credits where organization_id = ${organizationId} and invoice_id = ${invoiceId}`;
}

export interface InvoiceOwner extends FeeOwner {
  invoiceId: InvoiceId;
}

/** The invoice or standalone record that fees are stored for. */
export interface FeeOwner {
  organizationId: OrganizationId;
  invoiceId: InvoiceId | null;
  billingEntityId: BillingEntityId;
  customerId: CustomerId;
  currency: string;
  /** Creation of the invoice: its fees share it. */
  createdAt: Temporal.Instant;
}

/** Stores fees in the order given, with their taxes: one statement. */
export async function insertFees(
  db: Db,
  owner: FeeOwner,
  { fees, draft }: { fees: readonly LineFee[]; draft: Pick<Draft, 'fees'> },
): Promise<void> {
  if (fees.length === 0) return;
  const computed = new Map(draft.fees.map((fee) => [fee.key, fee]));
  const rows = fees.map((fee) => {
    const taxed = computed.get(fee.id)!;
    return {
      id: fee.id,
      subscription_id: fee.line.subscription.id,
      charge_id: fee.charge?.id ?? null,
      charge_filter_id: fee.charge_filter_id,
      fixed_charge_id: fee.fixedCharge?.id ?? null,
      true_up_parent_fee_id: fee.true_up_parent_fee_id,
      original_fee_id: fee.originalFeeId ?? null,
      correction_id: fee.correction?.id ?? null,
      fee_type: fee.fee_type,
      item_id: fee.item.id,
      item_code: fee.item.code,
      item_name: fee.item.name,
      item_description: fee.item.description,
      invoice_display_name: fee.item.displayName,
      amount_cents: fee.amountCents,
      precise_amount_cents: fee.preciseAmountCents,
      unit_amount_cents: fee.unitAmountCents,
      precise_unit_amount: fee.preciseUnitAmount,
      precise_coupons_amount_cents: taxed.preciseCouponsAmountCents,
      untaxed_amount_cents: taxed.untaxedAmountCents,
      progressive_parts: partsJson(taxed.progressiveParts),
      precise_credit_notes_amount_cents: taxed.preciseCreditNotesAmountCents,
      taxes_amount_cents: taxed.taxesAmountCents,
      taxes_precise_amount_cents: taxed.taxesPreciseAmountCents,
      taxes_rate: taxed.taxesRate,
      units: fee.units,
      total_aggregated_units: fee.totalAggregatedUnits,
      events_count: fee.eventsCount,
      grouped_by: fee.groupedBy,
      amount_details: fee.amountDetails,
      pricing_unit_details: fee.pricingUnitDetails ?? null,
      presentation_breakdowns: (fee.presentation ?? []).map(({ presentationBy, units }) => ({
        presentation_by: presentationBy,
        units: decimalText(units),
      })),
      pay_in_advance:
        fee.inAdvance !== undefined ||
        fee.fixedCharge?.pay_in_advance === true ||
        (fee.fee_type === 'subscription' && fee.line.subscription.pay_in_advance),
      invoiceable: fee.inAdvance?.invoiceable ?? true,
      event_id: fee.inAdvance?.event?.id ?? null,
      event_transaction_id: fee.inAdvance?.event?.transaction_id ?? null,
      external_subscription_id: fee.line.subscription.external_id,
      from_datetime: fee.window.from,
      to_datetime: fee.window.to,
    };
  });
  await db`
    with stored as (
      insert into fees (id, organization_id, billing_entity_id, customer_id, invoice_id, subscription_id, charge_id,
        charge_filter_id, fixed_charge_id, true_up_parent_fee_id, original_fee_id, correction_id, fee_type, item_id,
        item_code, item_name, item_description,
        invoice_display_name, amount_cents, amount_currency, precise_amount_cents, unit_amount_cents,
        precise_unit_amount, precise_coupons_amount_cents, untaxed_amount_cents, progressive_parts,
        precise_credit_notes_amount_cents, taxes_amount_cents, taxes_precise_amount_cents, taxes_rate, units,
        total_aggregated_units, events_count, grouped_by, amount_details, pricing_unit_details, presentation_breakdowns,
        pay_in_advance, invoiceable, event_id, event_transaction_id, external_subscription_id, from_datetime,
        to_datetime,
        created_at, updated_at)
      select id, ${owner.organizationId}::uuid, ${owner.billingEntityId}::uuid, ${owner.customerId}::uuid,
        ${owner.invoiceId}::uuid, subscription_id, charge_id, charge_filter_id, fixed_charge_id, true_up_parent_fee_id,
        original_fee_id, correction_id, fee_type, item_id,
        item_code, item_name, item_description, invoice_display_name, amount_cents, ${owner.currency},
        precise_amount_cents, unit_amount_cents, precise_unit_amount, precise_coupons_amount_cents,
        untaxed_amount_cents, progressive_parts, precise_credit_notes_amount_cents, taxes_amount_cents,
        taxes_precise_amount_cents,
        taxes_rate, units, total_aggregated_units, events_count, grouped_by, amount_details, pricing_unit_details,
        presentation_breakdowns,
        pay_in_advance, invoiceable, event_id, event_transaction_id, external_subscription_id, from_datetime,
        to_datetime, ${owner.createdAt},
        ${owner.createdAt}
      from jsonb_to_recordset(${json(rows)}::jsonb) as fee (id uuid, subscription_id uuid, charge_id uuid,
        charge_filter_id uuid, fixed_charge_id uuid, true_up_parent_fee_id uuid, original_fee_id uuid,
        correction_id uuid, fee_type text, item_id uuid, item_code text, item_name text,
        item_description text, invoice_display_name text, amount_cents bigint, precise_amount_cents numeric,
        unit_amount_cents bigint, precise_unit_amount numeric, precise_coupons_amount_cents numeric,
        untaxed_amount_cents numeric, progressive_parts jsonb,
        precise_credit_notes_amount_cents numeric, taxes_amount_cents bigint,
        taxes_precise_amount_cents numeric, taxes_rate numeric, units numeric, total_aggregated_units numeric,
        events_count bigint, grouped_by jsonb, amount_details jsonb, pricing_unit_details jsonb,
        presentation_breakdowns jsonb,
        pay_in_advance boolean, invoiceable boolean, event_id uuid, event_transaction_id text,
        external_subscription_id text, from_datetime timestamptz, to_datetime timestamptz)
    )
    ${feeTaxesInsert(db, owner, draft)}`;
}

/** A fee without parts has none stored. */
const partsJson = (parts: Draft['fees'][number]['progressiveParts']): ProgressivePartJson[] | null =>
  parts.length === 0
    ? null
    : parts.map(({ feeId, creditCents, partCents }) => ({
        fee_id: feeId as FeeId,
        credit_cents: creditCents,
        part_cents: partCents,
      }));

/** Stores the taxes of stored fees. */
export async function insertFeeTaxes(db: Db, owner: FeeOwner, draft: Pick<Draft, 'fees'>): Promise<void> {
  if (draft.fees.some(({ appliedTaxes }) => appliedTaxes.length > 0)) await feeTaxesInsert(db, owner, draft);
}

function feeTaxesInsert(db: Db, owner: FeeOwner, draft: Pick<Draft, 'fees'>) {
  const taxes = draft.fees.flatMap((fee) =>
    fee.appliedTaxes.map(({ tax, amountCents, preciseAmountCents, baseRate }) => ({
      id: newId(),
      fee_id: fee.key,
      ...taxColumns(tax),
      amount_cents: amountCents,
      precise_amount_cents: preciseAmountCents,
      base_rate: baseRate ?? null,
    })),
  );
  return db`
    insert into fee_applied_taxes (id, organization_id, fee_id, tax_id, tax_code, tax_name, tax_rate, tax_description,
      amount_cents, amount_currency, precise_amount_cents, base_rate, created_at)
    select id, ${owner.organizationId}::uuid, fee_id, tax_id, tax_code, tax_name, tax_rate, tax_description,
      amount_cents, ${owner.currency}, precise_amount_cents, base_rate, ${owner.createdAt}
    from jsonb_to_recordset(${json(taxes)}::jsonb) as tax (id uuid, fee_id uuid, tax_id uuid, tax_code text,
      tax_name text, tax_rate numeric, tax_description text, amount_cents bigint, precise_amount_cents numeric,
      base_rate numeric)`;
}

/** Stores the taxes of the whole invoice. */
export async function insertInvoiceTaxes(db: Db, owner: InvoiceOwner, draft: Draft): Promise<void> {
  if (draft.appliedTaxes.length === 0) return;
  const rows = draft.appliedTaxes.map(({ tax, feesAmountCents, taxableBaseAmountCents, amountCents }) => ({
    id: newId(),
    ...taxColumns(tax),
    amount_cents: amountCents,
    fees_amount_cents: feesAmountCents,
    taxable_base_amount_cents: taxableBaseAmountCents ?? null,
  }));
  await db`
    insert into invoice_applied_taxes (id, organization_id, invoice_id, tax_id, tax_code, tax_name, tax_rate,
      tax_description, amount_cents, amount_currency, fees_amount_cents, taxable_base_amount_cents, created_at)
    select id, ${owner.organizationId}::uuid, ${owner.invoiceId}::uuid, tax_id, tax_code, tax_name, tax_rate,
      tax_description, amount_cents, ${owner.currency}, fees_amount_cents, taxable_base_amount_cents,
      ${owner.createdAt}
    from jsonb_to_recordset(${json(rows)}::jsonb) as tax (id uuid, tax_id uuid, tax_code text, tax_name text,
      tax_rate numeric, tax_description text, amount_cents bigint, fees_amount_cents bigint,
      taxable_base_amount_cents bigint)`;
}

/** Stores what progressive invoices take off the invoice. */
export async function insertCredits(db: Db, owner: InvoiceOwner, draft: Draft): Promise<void> {
  if (draft.progressiveCredits.length === 0) return;
  const rows = draft.progressiveCredits.map(({ progressiveInvoiceId, amountCents }) => ({
    id: newId(),
    progressive_billing_invoice_id: progressiveInvoiceId,
    amount_cents: amountCents,
  }));
  await db`
    insert into credits (id, organization_id, invoice_id, progressive_billing_invoice_id, amount_cents, amount_currency,
      before_taxes, created_at)
    select id, ${owner.organizationId}::uuid, ${owner.invoiceId}::uuid, progressive_billing_invoice_id, amount_cents,
      ${owner.currency}, true, ${owner.createdAt}
    from jsonb_to_recordset(${json(rows)}::jsonb) as credit (id uuid, progressive_billing_invoice_id uuid,
      amount_cents bigint)`;
}

const taxColumns = (tax: Draft['appliedTaxes'][number]['tax']) => ({
  tax_id: tax.id,
  tax_code: tax.code,
  tax_name: tax.name,
  tax_rate: tax.rate,
  tax_description: tax.description,
});

/** The issuer as a final invoice prints it, whatever changes later. */
const issuerOf = (db: Db, status: InvoiceStatus) =>
  status === 'finalized'
    ? db`(select ${issuerSnapshot(db)} from billing_entities entity
        where entity.organization_id = invoices.organization_id and entity.id = invoices.billing_entity_id)`
    : null;

/** The amounts of a computation, and the status that it ends in. */
export async function storeAmounts(
  db: Db,
  owner: InvoiceOwner,
  {
    draft,
    state,
    number,
  }: {
    draft: Draft;
    /** For an invoice that is numbered now. */
    number?: NumberedInvoice | undefined;
    state: {
      status: InvoiceStatus;
      dates: InvoiceDates;
      now: Temporal.Instant;
      snapshot: object | null;
      /** For a draft whose taxes a tax engine is going to estimate. */
      awaitsEstimate?: boolean;
      /** Whether its usage was counted now, not before it waited for its taxes. */
      isCounted?: boolean;
    };
  },
): Promise<void> {
  const counters = number && nextNumber({ db, organizationId: owner.organizationId }, number);
  const numberColumns = counters?.columns ?? (state.status === 'closed' ? db`number = null` : db`number = number`);
  await db`
  ${counters ? db`with ${counters.counted}` : db``}
  update invoices set status = ${state.status}, ${numberColumns},
    payment_status = ${draft.paymentStatus},
    issuing_date = ${state.dates.issuingDate}, expected_finalization_date = ${state.dates.expectedFinalizationDate},
    payment_due_date = ${state.dates.paymentDueDate}, fees_amount_cents = ${draft.feesAmountCents},
    progressive_billing_credit_amount_cents = ${draft.progressiveBillingCreditAmountCents},
    coupons_amount_cents = ${draft.couponsAmountCents},
    sub_total_excluding_taxes_amount_cents = ${draft.subTotalExcludingTaxesAmountCents},
    taxes_amount_cents = ${draft.taxesAmountCents}, taxes_rate = ${draft.taxesRate},
    sub_total_including_taxes_amount_cents = ${draft.subTotalIncludingTaxesAmountCents},
    credit_notes_amount_cents = ${draft.creditNotesAmountCents},
    prepaid_credit_amount_cents = ${draft.prepaidCreditAmountCents}, total_amount_cents = ${draft.totalAmountCents},
    customer_snapshot = ${json(state.snapshot)}, issuer_snapshot = ${issuerOf(db, state.status)},
    ready_to_be_refreshed = false,
    tax_version = tax_version + 1,
    tax_status = case when ${state.status === 'pending' || state.awaitsEstimate === true} then 'pending'
      when ${state.status === 'draft'} or tax_status is null then null else 'succeeded' end,
    finalized_at = ${state.status === 'finalized' ? state.now : null}, updated_at = ${state.now},
    usage_counted_at = ${state.isCounted ? state.now : db`usage_counted_at`}
  ${counters ? db`from ${counters.counters}` : db``}
  where id = (
    select id from (select organization_id, id from invoices where id = ${owner.invoiceId} offset 0) by_key
    where organization_id = ${owner.organizationId})`;
}
