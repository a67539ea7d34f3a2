import { localDate } from '../../../engine/calendar/local-day.ts';
import { type Cents, cents, roundToCents } from '../../../engine/money/cents.ts';
import { exponentOf } from '../../../engine/money/currency.ts';
import { decimal } from '../../../engine/money/decimal.ts';
import { PRECISE_AMOUNT_DIGITS, roundToDigits } from '../../../engine/money/precision.ts';
import { toMainUnit } from '../../../engine/money/units.ts';
import type { Context } from '../../../platform/context.ts';
import { newId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { listFeeInputs } from '../../invoices/fee-explanations/queries.ts';
import { type FeeRow, listFeesOfInvoice } from '../../invoices/fees/queries.ts';
import type { InvoiceRow } from '../../invoices/invoices/queries.ts';
import type { InvoiceRegeneration } from '../../invoices/invoices/regenerate-schema.ts';
import type { AddOnFee } from '../bill-one-off/add-on-fees.ts';
import { invoiceAddOns } from '../bill-one-off/invoice-add-ons.ts';
import type { Replaced } from './regenerate-invoice.ts';
import { readPaymentWish, replaceSource } from './replaced-invoice.ts';
import { sectionsOf } from './sections-of-source.ts';

/**
 * Regenerates a voided one-off invoice: taxes that a fee named itself are kept, others are chosen as for a new invoice;
 * payment method and printed sections stay.
 *
 * @returns id of the new invoice
 * @throws Refusal 404 fee
 */
export async function regenerateOneOff(ctx: Context, replaced: Replaced): Promise<string> {
  const { source, payer, issuer, body, purchaseOrderNumber } = replaced;
  const stored = await listFeesOfInvoice(ctx, source.id);
  const inputs = await listFeeInputs(
    ctx,
    stored.map(({ id }) => id),
  );
  const fees = body.fees.map((given) => {
    const row = stored.find(({ id }) => id === given.id);
    if (!row) throw refuse.notFound('fee');
    const price = inputs.find(({ fee_id }) => fee_id === row.id)?.inputs.price as { tax_codes?: string[] } | undefined;
    return copyOf(row, given, { source, taxCodes: price?.tax_codes ?? [] });
  });
  return invoiceAddOns(ctx, {
    payer,
    issuer,
    currency: source.currency,
    fees,
    purchaseOrderNumber,
    billedOn: localDate(source.created_at, payer.zone),
    sections: sectionsOf(source),
    wish: await readPaymentWish(ctx, source.id),
    onOpened: (invoiceId) => replaceSource(ctx, { sourceId: source.id, invoiceId }),
  });
}

function copyOf(
  row: FeeRow,
  given: InvoiceRegeneration['fees'][number],
  { source, taxCodes }: { source: InvoiceRow; taxCodes: readonly string[] },
): AddOnFee {
  const units = given.units == null ? row.units : decimal(given.units);
  const unitAmountCents: Cents = cents(given.unit_amount_cents ?? row.unit_amount_cents);
  const exact = units.times(unitAmountCents);
  return {
    id: newId(),
    originalFeeId: row.original_fee_id ?? row.id,
    addOn: { id: row.item_id, code: row.item_code, name: row.item_name },
    taxCodes,
    description: row.item_description,
    displayName: given.invoice_display_name ?? row.invoice_display_name ?? row.item_name,
    amountCents: roundToCents(exact),
    preciseAmountCents: roundToDigits(exact, PRECISE_AMOUNT_DIGITS),
    unitAmountCents,
    preciseUnitAmount: toMainUnit(unitAmountCents, exponentOf(source.currency)),
    units,
    window: { from: row.from_datetime ?? source.created_at, to: row.to_datetime ?? source.created_at },
  };
}
