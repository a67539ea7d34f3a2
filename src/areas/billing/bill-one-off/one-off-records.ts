import type { Draft } from '../../../engine/invoices/draft.ts';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { BillingEntityId, InvoiceId, PaymentMethodId } from '../../../platform/ids.ts';
import { type InvoiceOwner, insertFeeTaxes } from '../build-invoice/writes.ts';
import type { AddOnFee } from './add-on-fees.ts';

/** Id of a billing entity that may issue invoices. */
export async function findBillingEntity({ db, organizationId }: Scope, code: string): Promise<string | undefined> {
  const [row] = await db<{ id: BillingEntityId }[]>`
    select id from billing_entities
    where organization_id = ${organizationId} and code = ${code} and deleted_at is null and archived_at is null`;
  return row?.id;
}

/** How a one-off invoice is to be paid. */
export interface PaymentWish {
  skipPsp: boolean;
  paymentMethodType: string | null;
  paymentMethodId: PaymentMethodId | null;
}

export const storePaymentWish = ({ db, organizationId }: Scope, invoiceId: InvoiceId, wish: PaymentWish) => db`
  update invoices set skip_psp = ${wish.skipPsp}, payment_method_type = ${wish.paymentMethodType},
    payment_method_id = ${wish.paymentMethodId}
  where organization_id = ${organizationId} and id = ${invoiceId}`;

/** Stores the fees of a one-off invoice in the order given, with their taxes. */
export async function insertAddOnFees(
  db: Db,
  owner: InvoiceOwner,
  { fees, draft }: { fees: readonly AddOnFee[]; draft: Draft },
): Promise<void> {
  const computed = new Map(draft.fees.map((fee) => [fee.key, fee]));
  const rows = fees.map((fee) => {
    const taxed = computed.get(fee.id)!;
    return {
      id: fee.id,
      original_fee_id: fee.originalFeeId ?? null,
      item_id: fee.addOn.id,
      item_code: fee.addOn.code,
      item_name: fee.addOn.name,
      item_description: fee.description,
      invoice_display_name: fee.displayName,
      amount_cents: fee.amountCents,
      precise_amount_cents: fee.preciseAmountCents,
      unit_amount_cents: fee.unitAmountCents,
      precise_unit_amount: fee.preciseUnitAmount,
      taxes_amount_cents: taxed.taxesAmountCents,
      taxes_precise_amount_cents: taxed.taxesPreciseAmountCents,
      taxes_rate: taxed.taxesRate,
      units: fee.units,
      from_datetime: fee.window.from,
      to_datetime: fee.window.to,
    };
  });
  await db`
    insert into fees (id, organization_id, billing_entity_id, customer_id, invoice_id, original_fee_id, fee_type,
      item_id, item_code,
      item_name, item_description, invoice_display_name, amount_cents, amount_currency, precise_amount_cents,
      unit_amount_cents, precise_unit_amount, taxes_amount_cents, taxes_precise_amount_cents, taxes_rate, units,
      total_aggregated_units, from_datetime, to_datetime, created_at, updated_at)
    select id, ${owner.organizationId}::uuid, ${owner.billingEntityId}::uuid, ${owner.customerId}::uuid,
      ${owner.invoiceId}::uuid, original_fee_id, 'add_on', item_id, item_code, item_name, item_description,
      invoice_display_name,
      amount_cents, ${owner.currency}, precise_amount_cents, unit_amount_cents, precise_unit_amount,
      taxes_amount_cents, taxes_precise_amount_cents, taxes_rate, units, units, from_datetime, to_datetime,
      ${owner.createdAt}, ${owner.createdAt}
    from jsonb_to_recordset(${json(rows)}::jsonb) as fee (id uuid, original_fee_id uuid, item_id uuid, item_code text,
      item_name text,
      item_description text, invoice_display_name text, amount_cents bigint, precise_amount_cents numeric,
      unit_amount_cents bigint, precise_unit_amount numeric, taxes_amount_cents bigint,
      taxes_precise_amount_cents numeric, taxes_rate numeric, units numeric, from_datetime timestamptz,
      to_datetime timestamptz)`;
  await insertFeeTaxes(db, owner, draft);
}
