import { Temporal } from 'temporal-polyfill';
import { VAT_CATEGORIES } from '../../invoices/vat-breakdown.ts';
import { exponentOf, isCurrency } from '../../money/currency.ts';
import { decimal } from '../../money/decimal.ts';
import { ADDRESS_SCHEMES } from '../electronic-address.ts';
import type { DayRange, DocumentFacts, DocumentParty } from '../facts.ts';
import { isFilled, MOST_DECIMALS, ofEachParty, type Rule, rulesOf } from './rule.ts';

const TYPE_CODES: ReadonlySet<string> = new Set(['380', '381', '389', '261']);
const PAYMENT_CODES: ReadonlySet<string> = new Set(['1', '30', '58', '59']);
/** Codes of UN/ECE recommendations 20 and 21: two or three signs. */
export const UNIT_CODE = /^[A-Z0-9]{2,3}$/;
export const COUNTRY_CODE = /^[A-Z]{2}$/;
/** Registers of ISO 6523 have four digits. */
export const REGISTER_CODE = /^[0-9]{4}$/;
/** BT-121: the list VATEX. */
export const EXEMPTION_CODE = /^VATEX-[A-Z]{2}(-[0-9A-Z]+)*$/;
/** How far a row's tax may be from its base times its rate: receivers refuse one whole main unit. */
const MOST_TAX_OFF = 1;

const isInOrder = (range: DayRange | null): boolean =>
  range === null || Temporal.PlainDate.compare(range.from, range.to) <= 0;
const isAmount = (cents: number): boolean => Number.isSafeInteger(cents);
const sumOf = <Item>(items: readonly Item[], read: (item: Item) => number): number =>
  items.reduce((sum, item) => sum + read(item), 0);
const allowanceSum = (facts: DocumentFacts, isCharge: boolean): number =>
  sumOf(
    facts.allowances.filter((each) => each.isCharge === isCharge),
    (each) => each.amountCents,
  );
const hasScheme = ({ endpoint }: DocumentParty): boolean => endpoint === null || isFilled(endpoint.scheme);
const isKnownScheme = ({ endpoint }: DocumentParty): boolean =>
  endpoint === null || !isFilled(endpoint.scheme) || ADDRESS_SCHEMES.has(endpoint.scheme);
const hasPrefix = (number: string | null): boolean => number === null || /^[A-Z]{2}./.test(number);
const isCode = (pattern: RegExp, text: string | null): boolean => text === null || pattern.test(text);

/** Rules of EN 16931 that hold whatever the VAT category. What the model of the facts cannot break has no row. */
export const coreRules: readonly Rule[] = rulesOf(
  ['en16931'],
  [
    {
      id: 'currency_not_representable',
      side: 'document',
      field: 'currency',
      text: 'Amounts of electronic documents have two decimals at most (BR-DEC).',
      test: ({ currency }) => !isCurrency(currency) || exponentOf(currency) <= MOST_DECIMALS,
    },
    {
      id: 'several_taxes',
      side: 'tax',
      field: 'not_vat',
      text: 'A line bears a tax that is not value added tax, which no electronic document can state.',
      test: ({ unavailable }) => !unavailable.includes('several_taxes'),
    },
    {
      id: 'amounts_do_not_meet',
      side: 'document',
      field: 'sub_total_excluding_taxes_amount_cents',
      text: 'The lines less the allowances differ from the net total by more than cents of rounding.',
      test: ({ unavailable }) => !unavailable.includes('amounts_do_not_meet'),
    },
    {
      id: 'BR-02',
      side: 'document',
      field: 'number',
      text: 'A document has a number.',
      test: ({ number }) => isFilled(number),
    },
    {
      id: 'BR-06',
      side: 'seller',
      field: 'name',
      text: 'The seller has a name.',
      test: ({ seller }) => isFilled(seller.name),
    },
    {
      id: 'BR-07',
      side: 'buyer',
      field: 'name',
      text: 'The buyer has a name.',
      test: ({ buyer }) => isFilled(buyer.name),
    },
    {
      id: 'BR-09',
      side: 'seller',
      field: 'country',
      text: 'The seller’s address has a country.',
      test: ({ seller }) => isFilled(seller.country),
    },
    {
      id: 'BR-11',
      side: 'buyer',
      field: 'country',
      text: 'The buyer’s address has a country.',
      test: ({ buyer }) => isFilled(buyer.country),
    },
    {
      id: 'BR-12',
      side: 'document',
      field: 'fees_amount_cents',
      text: 'A document has the sum of its lines.',
      test: ({ totals }) => isAmount(totals.linesCents),
    },
    {
      id: 'BR-13',
      side: 'document',
      field: 'sub_total_excluding_taxes_amount_cents',
      text: 'A document has a total without VAT.',
      test: ({ totals }) => isAmount(totals.netCents),
    },
    {
      id: 'BR-14',
      side: 'document',
      field: 'sub_total_including_taxes_amount_cents',
      text: 'A document has a total with VAT.',
      test: ({ totals }) => isAmount(totals.grossCents),
    },
    {
      id: 'BR-15',
      side: 'document',
      field: 'total_amount_cents',
      text: 'A document has an amount due.',
      test: ({ totals }) => isAmount(totals.payableCents),
    },
    {
      id: 'BR-16',
      side: 'document',
      field: 'fees',
      text: 'A document has at least one line.',
      test: ({ lines }) => lines.length > 0,
    },
    {
      id: 'BR-22',
      side: 'document',
      field: 'fees.units',
      text: 'Every line has a quantity.',
      test: ({ lines }) => lines.every(({ quantity }) => quantity.isFinite()),
    },
    {
      id: 'BR-23',
      side: 'document',
      field: 'unit_code',
      text: 'Every line has a unit.',
      test: ({ lines }) => lines.every(({ unit }) => isFilled(unit)),
    },
    {
      id: 'BR-24',
      side: 'document',
      field: 'fees.amount_cents',
      text: 'Every line has an amount.',
      test: ({ lines }) => lines.every(({ amountCents }) => isAmount(amountCents)),
    },
    {
      id: 'BR-25',
      side: 'document',
      field: 'fees.item.name',
      text: 'Every line has a name.',
      test: ({ lines }) => lines.every(({ name }) => isFilled(name)),
    },
    {
      id: 'BR-26',
      side: 'document',
      field: 'fees.precise_unit_amount',
      text: 'Every line has a price.',
      test: ({ lines }) => lines.every(({ price }) => !price.isNaN()),
    },
    {
      id: 'BR-27',
      side: 'document',
      field: 'fees.precise_unit_amount',
      text: 'No price is negative.',
      test: ({ lines }) => lines.every(({ price }) => !price.lt(0)),
    },
    {
      id: 'BR-29',
      side: 'document',
      field: 'fees.to_date',
      text: 'The document’s period does not end before it begins.',
      test: ({ period }) => isInOrder(period),
    },
    {
      id: 'BR-30',
      side: 'document',
      field: 'fees.to_date',
      text: 'No line’s period ends before it begins.',
      test: ({ lines }) => lines.every(({ period }) => isInOrder(period)),
    },
    {
      id: 'BR-31',
      side: 'document',
      field: 'coupons_amount_cents',
      text: 'Every allowance and charge has an amount above 0.',
      test: ({ allowances }) => allowances.every(({ amountCents }) => isAmount(amountCents) && amountCents > 0),
    },
    {
      id: 'BR-33',
      side: 'document',
      field: 'coupons',
      text: 'Every allowance has a reason.',
      test: ({ allowances }) => allowances.every((each) => each.isCharge || isFilled(each.reason ?? each.reasonCode)),
    },
    {
      id: 'BR-38',
      side: 'document',
      field: 'coupons',
      text: 'Every charge has a reason.',
      test: ({ allowances }) => allowances.every((each) => !each.isCharge || isFilled(each.reason ?? each.reasonCode)),
    },
    {
      id: 'BR-45',
      side: 'document',
      field: 'sub_total_excluding_taxes_amount_cents',
      text: 'Every VAT row has a taxable amount.',
      test: ({ vat }) => vat.every(({ netCents }) => isAmount(netCents)),
    },
    {
      id: 'BR-46',
      side: 'document',
      field: 'taxes_amount_cents',
      text: 'Every VAT row has a tax amount.',
      test: ({ vat }) => vat.every(({ taxCents }) => isAmount(taxCents)),
    },
    {
      id: 'BR-50',
      side: 'seller',
      field: 'bank_accounts.iban',
      text: 'A transfer names the account.',
      test: ({ payment }) => payment === null || !('account' in payment) || isFilled(payment.account.id),
    },
    {
      id: 'BR-55',
      side: 'document',
      field: 'number',
      text: 'A preceding invoice is named by its number.',
      test: ({ preceding }) => preceding.every(({ number }) => isFilled(number)),
    },
    {
      id: 'BR-57',
      side: 'buyer',
      field: 'shipping_address.country',
      text: 'The address of delivery has a country.',
      test: ({ delivery }) => delivery === null || isFilled(delivery.country),
    },
    {
      id: 'BR-62',
      side: 'seller',
      field: 'e_invoicing.endpoint_scheme',
      text: 'The seller’s electronic address has a scheme.',
      test: ({ seller }) => hasScheme(seller),
    },
    {
      id: 'BR-63',
      side: 'buyer',
      field: 'e_invoicing.endpoint_scheme',
      text: 'The buyer’s electronic address has a scheme.',
      test: ({ buyer }) => hasScheme(buyer),
    },
    ...ofEachParty({
      id: 'BR-CO-09',
      field: 'tax_identification_number',
      text: 'A VAT number begins with the code of a country.',
      test: ({ vatNumber }) => hasPrefix(vatNumber),
    }),
    {
      id: 'BR-CO-10',
      side: 'document',
      field: 'fees_amount_cents',
      text: 'The lines sum to their total.',
      test: ({ lines, totals }) =>
        !isAmount(totals.linesCents) ||
        sumOf(lines, ({ amountCents }) => (isAmount(amountCents) ? amountCents : 0)) === totals.linesCents ||
        lines.some(({ amountCents }) => !isAmount(amountCents)),
    },
    {
      id: 'BR-CO-11',
      side: 'document',
      field: 'coupons_amount_cents',
      text: 'The allowances sum to their total.',
      test: (facts) => allowanceSum(facts, false) === facts.totals.allowancesCents,
    },
    {
      id: 'BR-CO-12',
      side: 'document',
      field: 'coupons_amount_cents',
      text: 'The charges sum to their total.',
      test: (facts) => allowanceSum(facts, true) === facts.totals.chargesCents,
    },
    {
      id: 'BR-CO-13',
      side: 'document',
      field: 'sub_total_excluding_taxes_amount_cents',
      text: 'The net total is lines less allowances plus charges.',
      test: ({ totals: { linesCents, allowancesCents, chargesCents, netCents } }) =>
        ![linesCents, netCents].every(isAmount) || linesCents - allowancesCents + chargesCents === netCents,
    },
    {
      id: 'BR-CO-14',
      side: 'document',
      field: 'taxes_amount_cents',
      text: 'The VAT rows sum to the document’s tax.',
      test: ({ vat, totals }) =>
        vat.length === 0 ||
        vat.some(({ taxCents }) => !isAmount(taxCents)) ||
        sumOf(vat, ({ taxCents }) => taxCents) === totals.taxCents,
    },
    {
      id: 'BR-CO-15',
      side: 'document',
      field: 'sub_total_including_taxes_amount_cents',
      text: 'The total with VAT is the net total plus the tax.',
      test: ({ totals: { netCents, taxCents, grossCents } }) =>
        ![netCents, grossCents].every(isAmount) || netCents + taxCents === grossCents,
    },
    {
      id: 'BR-CO-16',
      side: 'document',
      field: 'total_amount_cents',
      text: 'The amount due is the total less what was paid, plus rounding.',
      test: ({ totals: { grossCents, paidCents, roundingCents, payableCents } }) =>
        ![grossCents, payableCents].every(isAmount) || grossCents - paidCents + roundingCents === payableCents,
    },
    {
      id: 'BR-CO-17',
      side: 'document',
      field: 'taxes_amount_cents',
      text: 'The tax of a VAT row is its taxable amount times its rate.',
      test: ({ vat, currency }) =>
        vat.every(
          ({ netCents, taxCents, rate }) =>
            ![netCents, taxCents].every(isAmount) ||
            rate
              .times(netCents)
              .div(100)
              .minus(taxCents)
              .abs()
              .lt(decimal(10).pow(exponentOf(currency)).times(MOST_TAX_OFF)) ||
            (exponentOf(currency) === 0 && rate.times(netCents).div(100).minus(taxCents).abs().lte(1)),
        ),
    },
    {
      id: 'BR-CO-18',
      side: 'document',
      field: 'fees',
      text: 'A document has at least one VAT row.',
      test: ({ vat, lines }) => vat.length > 0 || lines.length === 0,
    },
    {
      id: 'BR-CO-25',
      side: 'document',
      field: 'payment_due_date',
      text: 'An amount due has a date or terms.',
      test: ({ kind, totals, dueOn, terms }) =>
        kind === 'CreditNote' || !(totals.payableCents > 0) || dueOn !== null || isFilled(terms),
    },
    {
      id: 'BR-CO-26',
      side: 'seller',
      field: 'legal_number',
      text: 'The seller has a number: of the company, of VAT, or another.',
      test: ({ seller }) => [seller.identifier, seller.legalNumber, seller.vatNumber].some(isFilled),
    },
    {
      id: 'BR-CL-01',
      side: 'document',
      field: 'invoice_type',
      text: 'The type of the document is in the list UNTDID 1001.',
      test: ({ typeCode }) => TYPE_CODES.has(typeCode),
    },
    {
      id: 'BR-CL-04',
      side: 'document',
      field: 'currency',
      text: 'The currency is in the list ISO 4217.',
      test: ({ currency }) => isCurrency(currency),
    },
    ...ofEachParty({
      id: 'BR-CL-11',
      field: 'e_invoicing.legal_scheme',
      text: 'The register of a legal number is in the list ISO 6523.',
      test: ({ legalScheme }) => isCode(REGISTER_CODE, legalScheme),
    }),
    ...ofEachParty({
      id: 'BR-CL-14',
      field: 'country',
      text: 'Countries are codes of ISO 3166.',
      test: ({ country }) => !isFilled(country) || COUNTRY_CODE.test(country!),
    }),
    {
      id: 'BR-CL-16',
      side: 'seller',
      field: 'bank_accounts',
      text: 'The means of payment is in the list UNTDID 4461.',
      test: ({ payment }) => payment === null || PAYMENT_CODES.has(payment.code),
    },
    {
      id: 'BR-CL-17',
      side: 'tax',
      field: 'vat_category',
      text: 'VAT categories of rows and allowances are in the list UNCL 5305.',
      test: ({ vat, allowances }) => [...vat, ...allowances].every(({ category }) => VAT_CATEGORIES.includes(category)),
    },
    {
      id: 'BR-CL-18',
      side: 'tax',
      field: 'vat_category',
      text: 'VAT categories of lines are in the list UNCL 5305.',
      test: ({ lines }) => lines.every(({ category }) => VAT_CATEGORIES.includes(category)),
    },
    {
      id: 'BR-CL-22',
      side: 'tax',
      field: 'exemption_code',
      text: 'An exemption code is in the list VATEX.',
      test: ({ vat }) => vat.every(({ exemptionCode }) => isCode(EXEMPTION_CODE, exemptionCode)),
    },
    {
      id: 'BR-CL-23',
      side: 'document',
      field: 'unit_code',
      text: 'Units are codes of UN/ECE recommendation 20.',
      test: ({ lines }) => lines.every(({ unit }) => !isFilled(unit) || UNIT_CODE.test(unit)),
    },
    ...ofEachParty({
      id: 'BR-CL-25',
      field: 'e_invoicing.endpoint_scheme',
      text: 'The scheme of an electronic address is in the list EAS.',
      test: isKnownScheme,
    }),
  ],
);
