import { localDate } from '../../../engine/calendar/local-day.ts';
import type { Currency } from '../../../engine/money/currency.ts';
import type { Context } from '../../../platform/context.ts';
import type { CustomerId } from '../../../platform/ids.ts';
import { isUuid } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { type AddOnRow, findAddOns } from '../../catalog/add-ons/queries.ts';
import { getCustomer } from '../../customers/customers/queries.ts';
import { findMethod } from '../../customers/payment-methods/queries.ts';
import type { OneOffInvoiceCreate } from '../../invoices/invoices/one-off-schema.ts';
import { showInvoice } from '../../invoices/invoices/show-invoice.ts';
import { setFirstCurrency } from '../../subscriptions/subscriptions/writes.ts';
import { lockPayer, type PayerFacts, readIssuer } from '../build-invoice/payer-and-issuer.ts';
import { addOnFee } from './add-on-fees.ts';
import { invoiceAddOns } from './invoice-add-ons.ts';
import { findBillingEntity } from './one-off-records.ts';

/**
 * Makes a one-off invoice of add-ons, final at once: no grace period, no coupons, no credits.
 *
 * @throws Refusal 404 customer, fees, add_on, billing_entity, tax; 422 payment_method, boundaries, currency; in this
 *   order
 * Rule: one-off-invoices.md.
 */
export async function billOneOff(ctx: Context, { body }: { body: OneOffInvoiceCreate }) {
  const customer = await getCustomer(ctx, body.external_customer_id);
  const given = body.fees ?? [];
  if (given.length === 0) throw refuse.notFound('fees');
  const addOns = await addOnsOf(
    ctx,
    given.map(({ add_on_code }) => add_on_code),
  );
  const paymentMethod = await paymentMethodOf(ctx, customer.id, body);
  const payer = await lockPayer(ctx, customer.id);
  const issuer = await readIssuer(ctx, await issuerIdOf(ctx, body, payer));
  const currency = currencyOf(body, customer.currency as Currency | null);
  const fees = given.map((fee) => addOnFee(fee, addOns.get(fee.add_on_code)!, currency, ctx.now()));
  const invoiceId = await invoiceAddOns(ctx, {
    payer,
    issuer,
    currency,
    fees,
    purchaseOrderNumber: body.purchase_order_number?.trim() || null,
    buyerReference: body.buyer_reference?.trim() || null,
    billedOn: localDate(ctx.now(), payer.zone),
    sections: body.invoice_custom_section,
    wish: { skipPsp: body.skip_psp ?? false, ...paymentMethod },
  });
  if (customer.currency === null) await setFirstCurrency(ctx, customer.id, { currency, now: ctx.now() });
  return showInvoice(ctx, invoiceId);
}

/** @throws Refusal 404 add_on */
async function addOnsOf(ctx: Context, codes: readonly string[]): Promise<Map<string, AddOnRow>> {
  const rows = await findAddOns(ctx, { ids: [], codes: [...new Set(codes)] });
  const byCode = new Map(rows.map((row) => [row.code, row]));
  if (codes.some((code) => !byCode.has(code))) throw refuse.notFound('add_on');
  return byCode;
}

/** @throws Refusal 422 payment_method, unless it is a kind we know, or a method of the customer */
async function paymentMethodOf(ctx: Context, customerId: CustomerId, { payment_method: method }: OneOffInvoiceCreate) {
  const type = method?.payment_method_type ?? null;
  const id = method?.payment_method_id ?? null;
  const known = id === null || (isUuidText(id) && (await findMethod(ctx, customerId, id)));
  if (!known || (type !== null && type !== 'provider' && type !== 'manual'))
    throw refuse.invalid({ payment_method: ['invalid_payment_method'] });
  return { paymentMethodType: type, paymentMethodId: id };
}

const isUuidText = (value: unknown): value is string => typeof value === 'string' && isUuid(value);

/** @throws Refusal 404 billing_entity */
async function issuerIdOf(ctx: Context, body: OneOffInvoiceCreate, payer: PayerFacts): Promise<string> {
  if (!body.billing_entity_code) return payer.billing_entity_id;
  const id = await findBillingEntity(ctx, body.billing_entity_code);
  if (id === undefined) throw refuse.notFound('billing_entity');
  return id;
}

function currencyOf({ currency }: OneOffInvoiceCreate, customers: Currency | null): Currency {
  const known = currency ?? customers;
  if (known === null) throw refuse.invalid({ currency: ['value_is_mandatory'] });
  return known;
}
