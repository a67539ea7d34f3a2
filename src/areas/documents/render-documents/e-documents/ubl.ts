import type { Temporal } from 'temporal-polyfill';
import type { VatCategory, VatShare } from '../../../../engine/invoices/vat-breakdown.ts';
import type { Cents } from '../../../../engine/money/cents.ts';
import { type Currency, exponentOf } from '../../../../engine/money/currency.ts';
import type { Decimal } from '../../../../engine/money/decimal.ts';
import { toMainUnit } from '../../../../engine/money/units.ts';
import type { XmlElement } from '../../../../platform/documents/xml.ts';
import type { PartyFacts } from '../party.ts';
import { isVatId } from './vat-id.ts';

/** Contents of an electronic invoice or credit note, whatever its syntax. Amounts in the currency's smallest unit. */
export interface EDocument {
  kind: 'Invoice' | 'CreditNote';
  /** UNTDID 1001: 380 invoice, 389 self-billed invoice, 381 credit note, 261 self-billed credit note. */
  typeCode: string;
  number: string;
  issuedOn: Temporal.PlainDate;
  dueOn: Temporal.PlainDate | null;
  currency: Currency;
  note: string | null;
  orderNumber: string | null;
  /** Number of the invoice that a note corrects. */
  correctedNumber: string | null;
  seller: PartyFacts;
  buyer: PartyFacts;
  lines: readonly ELine[];
  vat: readonly VatShare[];
  totals: ETotals;
}

export interface ELine {
  name: string;
  description: string | null;
  quantity: Decimal;
  /** Price of one unit in the currency's main unit. */
  unitPrice: Decimal;
  amountCents: Cents;
  category: VatCategory;
  rate: Decimal;
}

export interface ETotals {
  linesCents: number;
  allowanceCents: number;
  netCents: number;
  taxCents: number;
  grossCents: number;
  /** What credit notes and wallets have paid already. */
  prepaidCents: number;
  payableCents: number;
}

const EN_16931 = 'urn:cen.eu:en16931:2017';
const ROOT = 'urn:oasis:names:specification:ubl:schema:xsd';
/** UN/ECE recommendation 20: one. */
const UNIT = 'C62';
const REASON: Partial<Record<VatCategory, string>> = { AE: 'Reverse charge', O: 'Not subject to VAT' };

/**
 * The document in the syntax UBL 2.1, which a receiver reads under the rules of EN 16931.
 *
 * Rules: invoice-operations.md#operations, credit-notes.md#endpoints "download_xml".
 */
export function ublOf(document: EDocument): XmlElement {
  const amount = amountsIn(document.currency);
  const { kind, totals } = document;
  return {
    [kind]: {
      '@xmlns': `${ROOT}:${kind}-2`,
      '@xmlns:cac': `${ROOT}:CommonAggregateComponents-2`,
      '@xmlns:cbc': `${ROOT}:CommonBasicComponents-2`,
      'cbc:CustomizationID': EN_16931,
      'cbc:ID': document.number,
      'cbc:IssueDate': document.issuedOn.toString(),
      ...(kind === 'Invoice' && document.dueOn ? { 'cbc:DueDate': document.dueOn.toString() } : {}),
      [`cbc:${kind}TypeCode`]: document.typeCode,
      'cbc:Note': document.note ?? undefined,
      'cbc:DocumentCurrencyCode': document.currency,
      'cac:OrderReference': document.orderNumber === null ? undefined : { 'cbc:ID': document.orderNumber },
      'cac:BillingReference':
        document.correctedNumber === null
          ? undefined
          : { 'cac:InvoiceDocumentReference': { 'cbc:ID': document.correctedNumber } },
      'cac:AccountingSupplierParty': { 'cac:Party': partyOf(document.seller, sellerNumbers(document)) },
      'cac:AccountingCustomerParty': { 'cac:Party': partyOf(document.buyer, buyerNumbers(document)) },
      'cac:AllowanceCharge': document.vat
        .filter(({ allowanceCents }) => allowanceCents !== 0)
        .map((share) => ({
          'cbc:ChargeIndicator': 'false',
          'cbc:AllowanceChargeReason': 'Discount',
          'cbc:Amount': amount(share.allowanceCents),
          'cac:TaxCategory': categoryOf(share),
        })),
      'cac:TaxTotal': {
        'cbc:TaxAmount': amount(totals.taxCents),
        'cac:TaxSubtotal': document.vat.map((share) => ({
          'cbc:TaxableAmount': amount(share.netCents),
          'cbc:TaxAmount': amount(share.taxCents),
          'cac:TaxCategory': { ...categoryOf(share, REASON[share.category]) },
        })),
      },
      'cac:LegalMonetaryTotal': {
        'cbc:LineExtensionAmount': amount(totals.linesCents),
        'cbc:TaxExclusiveAmount': amount(totals.netCents),
        'cbc:TaxInclusiveAmount': amount(totals.grossCents),
        'cbc:AllowanceTotalAmount': totals.allowanceCents === 0 ? undefined : amount(totals.allowanceCents),
        'cbc:PrepaidAmount': totals.prepaidCents === 0 ? undefined : amount(totals.prepaidCents),
        'cbc:PayableAmount': amount(totals.payableCents),
      },
      [`cac:${kind}Line`]: document.lines.map((line, index) => lineOf(document, line, index, amount)),
    },
  };
}

type Amounts = (cents: number) => XmlElement;

const amountsIn = (currency: Currency): Amounts => {
  const exponent = exponentOf(currency);
  return (cents) => ({ '@currencyID': currency, '#': toMainUnit(cents as Cents, exponent).toFixed(exponent) });
};

function lineOf({ kind, currency }: EDocument, line: ELine, index: number, amount: Amounts): XmlElement {
  return {
    'cbc:ID': String(index + 1),
    [kind === 'Invoice' ? 'cbc:InvoicedQuantity' : 'cbc:CreditedQuantity']: {
      '@unitCode': UNIT,
      '#': line.quantity.toFixed(),
    },
    'cbc:LineExtensionAmount': amount(line.amountCents),
    'cac:Item': {
      'cbc:Description': line.description ?? undefined,
      'cbc:Name': line.name,
      'cac:ClassifiedTaxCategory': categoryOf(line),
    },
    'cac:Price': { 'cbc:PriceAmount': { '@currencyID': currency, '#': line.unitPrice.toFixed() } },
  };
}

const categoryOf = ({ category, rate }: Pick<ELine, 'category' | 'rate'>, reason?: string): XmlElement => ({
  'cbc:ID': category,
  'cbc:Percent': category === 'O' ? undefined : rate.toFixed(),
  'cbc:TaxExemptionReason': reason,
  'cac:TaxScheme': { 'cbc:ID': 'VAT' },
});

/** The numbers of a party as EN 16931 wants them. */
interface Numbers {
  /** BT-29: any other. */
  identification?: string | undefined;
  tax?: { number: string; scheme: 'VAT' | 'TAX' } | undefined;
}

/** No VAT number is shown where nothing is subject to VAT (BR-O-02); the number then identifies the seller as such. */
const isOutsideVat = ({ vat }: EDocument): boolean => vat.length > 0 && vat.every(({ category }) => category === 'O');

/** A number of another tax than VAT is a tax registration (BT-32). */
function sellerNumbers(document: EDocument): Numbers {
  const number = document.seller.tax_identification_number;
  if (!number) return {};
  if (isOutsideVat(document)) return document.seller.legal_number ? {} : { identification: number };
  return { tax: { number, scheme: isVatId(number) ? 'VAT' : 'TAX' } };
}

/** EN 16931 knows no other number of a buyer than a VAT number; another one identifies the buyer. */
function buyerNumbers(document: EDocument): Numbers {
  const number = document.buyer.tax_identification_number;
  if (!number) return {};
  if (isOutsideVat(document) || !isVatId(number)) return { identification: number };
  return { tax: { number, scheme: 'VAT' } };
}

function partyOf(party: PartyFacts, { identification, tax }: Numbers): XmlElement {
  const text = (value: string | null) => value || undefined;
  return {
    'cac:PartyIdentification': identification === undefined ? undefined : { 'cbc:ID': identification },
    'cac:PartyName': { 'cbc:Name': party.name },
    'cac:PostalAddress': {
      'cbc:StreetName': text(party.address_line1),
      'cbc:AdditionalStreetName': text(party.address_line2),
      'cbc:CityName': text(party.city),
      'cbc:PostalZone': text(party.zipcode),
      'cbc:CountrySubentity': text(party.state),
      'cac:Country': party.country === null ? undefined : { 'cbc:IdentificationCode': party.country },
    },
    'cac:PartyTaxScheme': tax && { 'cbc:CompanyID': tax.number, 'cac:TaxScheme': { 'cbc:ID': tax.scheme } },
    'cac:PartyLegalEntity': { 'cbc:RegistrationName': party.name, 'cbc:CompanyID': text(party.legal_number) },
    'cac:Contact':
      party.phone || party.email
        ? { 'cbc:Telephone': text(party.phone), 'cbc:ElectronicMail': text(party.email) }
        : undefined,
  };
}
