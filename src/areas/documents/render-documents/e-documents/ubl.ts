import type { Temporal } from 'temporal-polyfill';
import type {
  AllowanceFacts,
  DayRange,
  DocumentFacts,
  DocumentParty,
  LineFacts,
  PaymentFacts,
  SellerFacts,
  VatRow,
} from '../../../../engine/e-documents/facts.ts';
import { profileFacts } from '../../../../engine/e-documents/profiles.ts';
import type { Decimal } from '../../../../engine/money/decimal.ts';
import type { XmlElement } from '../../../../platform/documents/xml.ts';
import { type Amounts, amountTexts, rateOfRow } from './amount-texts.ts';

const ROOT = 'urn:oasis:names:specification:ubl:schema:xsd';
const VAT = { 'cac:TaxScheme': { 'cbc:ID': 'VAT' } };

/**
 * The document in the syntax UBL 2.1. Elements stand in the order of its schema; what is undefined is left out.
 *
 * Rules: e-documents.md#profiles, invoice-operations.md#operations, credit-notes.md#endpoints "download_xml".
 */
export function ublOf(facts: DocumentFacts): XmlElement {
  const { kind, totals } = facts;
  const { customization, process } = profileFacts[facts.profile];
  const texts = amountTexts(facts.currency);
  const amount = (cents: number): XmlElement => ({ '@currencyID': facts.currency, '#': texts.amount(cents) });
  const unlessZero = (cents: number) => (cents === 0 ? undefined : amount(cents));
  return {
    [kind]: {
      '@xmlns': `${ROOT}:${kind}-2`,
      '@xmlns:cac': `${ROOT}:CommonAggregateComponents-2`,
      '@xmlns:cbc': `${ROOT}:CommonBasicComponents-2`,
      'cbc:CustomizationID': customization,
      'cbc:ProfileID': process ?? undefined,
      'cbc:ID': facts.number,
      'cbc:IssueDate': facts.issuedOn.toString(),
      ...(kind === 'Invoice' ? { 'cbc:DueDate': dateText(facts.dueOn) } : {}),
      [`cbc:${kind}TypeCode`]: facts.typeCode,
      'cbc:Note': facts.note ?? undefined,
      'cbc:DocumentCurrencyCode': facts.currency,
      'cbc:BuyerReference': facts.buyerReference ?? undefined,
      'cac:InvoicePeriod': periodOf(facts.period),
      'cac:OrderReference': facts.orderNumber === null ? undefined : { 'cbc:ID': facts.orderNumber },
      'cac:BillingReference': facts.preceding.map(({ number, issuedOn }) => ({
        'cac:InvoiceDocumentReference': { 'cbc:ID': number, 'cbc:IssueDate': dateText(issuedOn) },
      })),
      'cac:AccountingSupplierParty': { 'cac:Party': sellerOf(facts) },
      'cac:AccountingCustomerParty': { 'cac:Party': partyOf(facts.buyer) },
      'cac:Delivery': facts.delivery === null ? undefined : deliveryOf(facts.delivery),
      'cac:PaymentMeans': facts.payment === null ? undefined : paymentOf(facts.payment),
      'cac:PaymentTerms': facts.terms === null ? undefined : { 'cbc:Note': facts.terms },
      'cac:AllowanceCharge': facts.allowances.map((each) => allowanceOf(each, amount)),
      'cac:TaxTotal': {
        'cbc:TaxAmount': amount(totals.taxCents),
        'cac:TaxSubtotal': facts.vat.map((row) => ({
          'cbc:TaxableAmount': amount(row.netCents),
          'cbc:TaxAmount': amount(row.taxCents),
          'cac:TaxCategory': {
            'cbc:ID': row.category,
            'cbc:Percent': rateOfRow(row, facts.profile),
            'cbc:TaxExemptionReasonCode': row.exemptionCode ?? undefined,
            'cbc:TaxExemptionReason': row.exemptionText ?? undefined,
            ...VAT,
          },
        })),
      },
      'cac:LegalMonetaryTotal': {
        'cbc:LineExtensionAmount': amount(totals.linesCents),
        'cbc:TaxExclusiveAmount': amount(totals.netCents),
        'cbc:TaxInclusiveAmount': amount(totals.grossCents),
        'cbc:AllowanceTotalAmount': unlessZero(totals.allowancesCents),
        'cbc:ChargeTotalAmount': unlessZero(totals.chargesCents),
        'cbc:PrepaidAmount': unlessZero(totals.paidCents),
        'cbc:PayableRoundingAmount': unlessZero(totals.roundingCents),
        'cbc:PayableAmount': amount(totals.payableCents),
      },
      [`cac:${kind}Line`]: facts.lines.map((line, index) => lineOf(facts, line, index, texts)),
    },
  };
}

const dateText = (date: Temporal.PlainDate | null) => date?.toString();

const periodOf = (period: DayRange | null): XmlElement | undefined =>
  period === null ? undefined : { 'cbc:StartDate': period.from.toString(), 'cbc:EndDate': period.to.toString() };

function lineOf({ kind, currency }: DocumentFacts, line: LineFacts, index: number, texts: Amounts): XmlElement {
  return {
    'cbc:ID': String(index + 1),
    [kind === 'Invoice' ? 'cbc:InvoicedQuantity' : 'cbc:CreditedQuantity']: {
      '@unitCode': line.unit,
      '#': line.quantity.toFixed(),
    },
    'cbc:LineExtensionAmount': { '@currencyID': currency, '#': texts.amount(line.amountCents) },
    'cac:InvoicePeriod': periodOf(line.period),
    'cac:Item': {
      'cbc:Description': line.description ?? undefined,
      'cbc:Name': line.name,
      'cac:ClassifiedTaxCategory': categoryOf(line),
    },
    'cac:Price': { 'cbc:PriceAmount': { '@currencyID': currency, '#': line.price.toFixed() } },
  };
}

// What is outside the tax has no rate, not even 0 (BR-O-05, BR-O-06, BR-O-07).
const categoryOf = ({ category, rate }: { category: VatRow['category']; rate: Decimal }): XmlElement => ({
  'cbc:ID': category,
  'cbc:Percent': category === 'O' ? undefined : rate.toFixed(),
  ...VAT,
});

const allowanceOf = (allowance: AllowanceFacts, amount: (cents: number) => XmlElement): XmlElement => ({
  'cbc:ChargeIndicator': String(allowance.isCharge),
  'cbc:AllowanceChargeReasonCode': allowance.reasonCode ?? undefined,
  'cbc:AllowanceChargeReason': allowance.reason ?? undefined,
  'cbc:Amount': amount(allowance.amountCents),
  'cac:TaxCategory': categoryOf(allowance),
});

function paymentOf(payment: PaymentFacts): XmlElement {
  return {
    'cbc:PaymentMeansCode': payment.code,
    'cbc:PaymentID': payment.reference,
    ...('account' in payment
      ? {
          'cac:PayeeFinancialAccount': {
            'cbc:ID': payment.account.id,
            'cbc:Name': payment.account.holder ?? undefined,
            'cac:FinancialInstitutionBranch':
              payment.account.bic === null ? undefined : { 'cbc:ID': payment.account.bic },
          },
        }
      : {}),
    ...('mandate' in payment
      ? {
          'cac:PaymentMandate': {
            'cbc:ID': payment.mandate,
            'cac:PayerFinancialAccount':
              payment.debitedAccount === null ? undefined : { 'cbc:ID': payment.debitedAccount },
          },
        }
      : {}),
  };
}

const deliveryOf = ({ city, zipcode, country }: NonNullable<DocumentFacts['delivery']>): XmlElement => ({
  'cac:DeliveryLocation': {
    'cac:Address': {
      'cbc:CityName': city ?? undefined,
      'cbc:PostalZone': zipcode ?? undefined,
      'cac:Country': country === null ? undefined : { 'cbc:IdentificationCode': country },
    },
  },
});

function sellerOf({ seller, payment }: DocumentFacts): XmlElement {
  const creditorId = payment?.code === '59' ? payment.creditorId : null;
  return partyOf(seller, {
    creditorId,
    taxRegistration: seller.taxRegistration,
  });
}

type OnlySeller = { creditorId: string | null } & Pick<SellerFacts, 'taxRegistration'>;

function partyOf(party: DocumentParty, { creditorId, taxRegistration }: Partial<OnlySeller> = {}): XmlElement {
  const { contact, endpoint } = party;
  const numbers = [
    ...(party.identifier === null ? [] : [{ 'cbc:ID': party.identifier }]),
    ...(creditorId ? [{ 'cbc:ID': { '@schemeID': 'SEPA', '#': creditorId } }] : []),
  ];
  const registrations = [
    ...(party.vatNumber === null ? [] : [{ number: party.vatNumber, scheme: 'VAT' }]),
    ...(taxRegistration ? [{ number: taxRegistration, scheme: 'TAX' }] : []),
  ];
  return {
    'cbc:EndpointID': endpoint === null ? undefined : { '@schemeID': endpoint.scheme, '#': endpoint.id },
    'cac:PartyIdentification': numbers,
    'cac:PartyName': { 'cbc:Name': party.name },
    'cac:PostalAddress': {
      'cbc:StreetName': party.address_line1 ?? undefined,
      'cbc:AdditionalStreetName': party.address_line2 ?? undefined,
      'cbc:CityName': party.city ?? undefined,
      'cbc:PostalZone': party.zipcode ?? undefined,
      'cbc:CountrySubentity': party.state ?? undefined,
      'cac:Country': party.country === null ? undefined : { 'cbc:IdentificationCode': party.country },
    },
    'cac:PartyTaxScheme': registrations.map(({ number, scheme }) => ({
      'cbc:CompanyID': number,
      'cac:TaxScheme': { 'cbc:ID': scheme },
    })),
    'cac:PartyLegalEntity': {
      'cbc:RegistrationName': party.name,
      'cbc:CompanyID':
        party.legalNumber === null
          ? undefined
          : { ...(party.legalScheme === null ? {} : { '@schemeID': party.legalScheme }), '#': party.legalNumber },
    },
    'cac:Contact':
      contact.name || contact.phone || contact.email
        ? {
            'cbc:Name': contact.name ?? undefined,
            'cbc:Telephone': contact.phone ?? undefined,
            'cbc:ElectronicMail': contact.email ?? undefined,
          }
        : undefined,
  };
}
