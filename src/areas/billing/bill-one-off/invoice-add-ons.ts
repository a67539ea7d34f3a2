import type { PlainDate } from '../../../engine/calendar/instants.ts';
import { newDraft } from '../../../engine/invoices/draft.ts';
import { computeInvoice } from '../../../engine/invoices/invoice-steps.ts';
import { keepsZeroAmount } from '../../../engine/invoices/zero-amount.ts';
import { type Currency, exponentOf } from '../../../engine/money/currency.ts';
import { chooseTaxes } from '../../../engine/taxes/choose-taxes.ts';
import type { Tax } from '../../../engine/taxes/tax.ts';
import type { Context } from '../../../platform/context.ts';
import type { InvoiceId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { findTaxesByCodes, listTaxesOfAddOns } from '../../catalog/taxes/queries.ts';
import { isAwaitingRegister } from '../../customers/eu-taxes/queries.ts';
import type { SectionChoice } from '../../customers/invoice-custom-sections/schema.ts';
import { listHeldTaxes } from '../../usage/usage/fee-taxes.ts';
import { openInvoice } from '../build-invoice/open-invoice.ts';
import type { IssuerFacts, PayerFacts } from '../build-invoice/payer-and-issuer.ts';
import type { AddOnFee } from './add-on-fees.ts';
import type { PaymentWish } from './one-off-records.ts';
import { storeOneOff } from './store-one-off.ts';

export interface OneOffToMake {
  payer: PayerFacts;
  issuer: IssuerFacts;
  currency: Currency;
  fees: readonly AddOnFee[];
  purchaseOrderNumber: string | null;
  buyerReference?: string | null;
  billedOn: PlainDate;
  sections: SectionChoice;
  wish: PaymentWish;
  /** Links the invoice to another one before it is announced. */
  onOpened?: (invoiceId: InvoiceId) => Promise<void>;
}

/**
 * Taxes, stores and announces a one-off invoice from fees that exist already.
 *
 * @returns its id
 * Rules: invoice-amounts.md#order-of-computation, one-off-invoices.md.
 */
export async function invoiceAddOns(ctx: Context, invoice: OneOffToMake): Promise<string> {
  const { payer, issuer, currency, fees } = invoice;
  const awaitsTaxes = payer.tax_engine_id !== null || (await isAwaitingRegister(ctx, payer.id));
  const taxes = await taxesOf(ctx, fees, payer, awaitsTaxes);
  const invoiceId = newId();
  const { dates } = await openInvoice(ctx, {
    id: invoiceId,
    payer,
    issuer,
    invoiceType: 'one_off',
    currency,
    purchaseOrderNumber: invoice.purchaseOrderNumber,
    buyerReference: invoice.buyerReference ?? null,
    billedOn: invoice.billedOn,
  });
  await invoice.onOpened?.(invoiceId);
  const draft = computeInvoice(
    newDraft({
      invoiceType: 'one_off',
      isFinalizing: true,
      awaitsTaxes,
      keepsZeroAmount: keepsZeroAmount(payer.finalize_zero_amount_invoice, issuer.finalize_zero_amount_invoice),
      fees: fees.map(({ id, amountCents, preciseAmountCents }) => ({
        key: id,
        amountCents,
        preciseAmountCents,
        taxes: taxes.get(id)!,
      })),
    }),
  );
  const { sections, wish } = invoice;
  await storeOneOff(ctx, {
    invoiceId,
    payer,
    issuer,
    currency,
    exponent: exponentOf(currency),
    dates,
    fees,
    draft,
    sections,
    wish,
  });
  return invoiceId;
}

/**
 * Taxes of each fee: those that it names, else the add-on's, the customer's or the billing entity's. An invoice that
 * waits for its taxes has only the named ones.
 */
async function taxesOf(
  ctx: Context,
  fees: readonly AddOnFee[],
  payer: PayerFacts,
  awaitsTaxes: boolean,
): Promise<Map<string, readonly Tax[]>> {
  const named = await findTaxesByCodes(
    ctx,
    fees.flatMap(({ taxCodes }) => taxCodes),
  );
  const explicitOf = ({ taxCodes }: AddOnFee) => named.filter(({ code }) => taxCodes.includes(code));
  if (awaitsTaxes) return new Map(fees.map((fee) => [fee.id, explicitOf(fee)]));
  const [ofAddOns, held] = await Promise.all([
    listTaxesOfAddOns(
      ctx,
      fees.map(({ addOn }) => addOn.id),
    ),
    listHeldTaxes(ctx, {
      chargeIds: [],
      planIds: [],
      customerId: payer.id,
      billingEntityId: payer.billing_entity_id,
    }),
  ]);
  return new Map(
    fees.map((fee) => [
      fee.id,
      chooseTaxes<Tax>('add_on', {
        explicit: explicitOf(fee),
        own: ofAddOns.filter(({ add_on_id }) => add_on_id === fee.addOn.id),
        customer: held.filter(({ holder }) => holder === 'customer'),
        billingEntity: held.filter(({ holder }) => holder === 'billing_entity'),
      }),
    ]),
  );
}
