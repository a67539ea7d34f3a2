import { chooseEuTax, type EuTaxChoice, isEuTaxCode } from '../../../engine/taxes/eu/choose-eu-tax.ts';
import type { Context } from '../../../platform/context.ts';
import type { CustomerId, TaxId } from '../../../platform/ids.ts';
import { announce } from '../../../platform/reactions.ts';
import { readVatNumber } from '../../../platform/vat-numbers/read-vat-number.ts';
import type { TaxRow } from '../../catalog/taxes/queries.ts';
import { replaceCustomerTaxes } from '../../catalog/taxes/writes.ts';
import { vatNumberChecked } from '../announcements.ts';
import type { CustomerRow } from '../customers/queries.ts';
import { flagDraftsOfCustomer } from '../flag-drafts.ts';
import { euTax } from './generate-eu-taxes.ts';
import { listAwaitingInvoices, readSeller, type Seller } from './queries.ts';
import { deleteCheck, saveCheck } from './writes.ts';

/** Owed work: asking the register about a number, outside of any transaction; the sandbox double answers inside one. */
const CHECK_JOB = 'vat.check';
export const CHECK_STEP = 'check-vat-number';
const TAX_STEP = 'finalize-pending-invoice';

export interface SavedCustomer {
  customer: CustomerRow;
  /** As it was, with the taxes that it held; undefined when it is new. */
  before?: { customer: CustomerRow; taxes: readonly TaxRow[] } | undefined;
  /** Its billing entity, if it has been read. */
  seller?: Seller;
  /** Taxes that were sent in the same call; the customer holds them already. */
  sent: readonly TaxRow[] | undefined;
}

/**
 * Gives a saved customer its EU tax if its billing entity manages EU taxes: at once, or once the register has answered.
 *
 * @returns the customer's taxes, or undefined if they do not change
 * Rule: eu-taxes.md.
 */
export async function applyEuTaxes(ctx: Context, saved: SavedCustomer): Promise<TaxRow[] | undefined> {
  const { customer, sent } = saved;
  const seller = saved.seller ?? (await readSeller(ctx, customer.billing_entity_id));
  const isMoved = saved.before !== undefined && saved.before.customer.billing_entity_id !== customer.billing_entity_id;
  if (!seller.eu_tax_management) {
    await endCheck(ctx, saved);
    return isMoved && sent === undefined ? dropEuTaxes(ctx, saved) : undefined;
  }
  if (!isDue(saved)) return undefined;
  const choice = chooseFor(customer, seller);
  if (choice === 'ask-register') {
    await askRegister(
      ctx,
      customer,
      (sent ?? []).map(({ id }) => id),
    );
    return isMoved && sent === undefined ? dropEuTaxes(ctx, saved) : undefined;
  }
  const taxes = await giveTax(ctx, { customer, seller, code: choice.code, others: sent ?? [] });
  await endCheck(ctx, saved);
  const number = customer.tax_identification_number;
  if (number && !readVatNumber(number).hasValidFormat)
    await announce(ctx, vatNumberChecked, { customer: customer, check: { valid: false, valid_format: false } });
  return taxes;
}

/** New customers, those without an EU tax, and those with a change that affects the choice. */
function isDue({ customer, before }: SavedCustomer): boolean {
  if (before === undefined || !before.taxes.some(({ code }) => isEuTaxCode(code))) return true;
  return (['country', 'zipcode', 'tax_identification_number', 'billing_entity_id'] as const).some(
    (field) => before.customer[field] !== customer[field],
  );
}

/** The choice for a customer; `isValid` is what the register said about its number. */
export function chooseFor(
  { country, zipcode, tax_identification_number: number }: CustomerRow,
  seller: Seller,
  isValid?: boolean,
): EuTaxChoice {
  return chooseEuTax({
    sellerCountry: seller.country ?? '',
    country,
    postcode: zipcode,
    number: number ? { ...readVatNumber(number), ...(isValid === undefined ? {} : { isValid }) } : 'none',
  });
}

/** Replaces the taxes of a customer by the one that was chosen and some others. */
export async function giveTax(
  ctx: Context,
  gift: { customer: CustomerRow; seller: Seller; code: string; others: readonly TaxRow[] },
): Promise<TaxRow[]> {
  const tax = await euTax(ctx, gift.code, gift.seller.timezone);
  const taxes = [tax, ...gift.others.filter(({ id }) => id !== tax.id)];
  await holdTaxes(ctx, gift.customer.id, taxes);
  return taxes;
}

async function dropEuTaxes(ctx: Context, { customer, before }: SavedCustomer): Promise<TaxRow[]> {
  const kept = (before?.taxes ?? []).filter(({ code }) => !isEuTaxCode(code));
  await holdTaxes(ctx, customer.id, kept);
  return kept;
}

async function holdTaxes(ctx: Context, customerId: CustomerId, taxes: readonly TaxRow[]): Promise<void> {
  await replaceCustomerTaxes(
    ctx,
    customerId,
    taxes.map(({ id }) => id),
  );
  await flagDraftsOfCustomer(ctx, customerId);
}

/** Asks the register about a customer's number. `taxIds`: the customer's taxes beside that of the answer. */
export async function askRegister(ctx: Context, customer: CustomerRow, taxIds: readonly TaxId[]): Promise<void> {
  const check_id = await saveCheck(
    ctx,
    { customerId: customer.id, number: customer.tax_identification_number!, taxIds },
    ctx.now(),
  );
  if (ctx.sandbox) ctx.after({ step: CHECK_STEP, payload: { check_id } });
  else ctx.after({ nudge: CHECK_JOB, payload: { check_id } });
}

/** Nothing is left to ask, so waiting invoices go on. Of a new customer nothing has been asked yet. */
async function endCheck(ctx: Context, { customer: { id }, before }: SavedCustomer): Promise<void> {
  if (before !== undefined && (await deleteCheck(ctx, id))) await releaseInvoices(ctx, id);
}

/** Invoices that waited for the taxes of a customer go on. Rule: eu-taxes.md. */
export async function releaseInvoices(ctx: Context, customerId: CustomerId): Promise<void> {
  for (const { id } of await listAwaitingInvoices(ctx, customerId))
    ctx.after({ step: TAX_STEP, payload: { invoice_id: id } });
}
