import type { Temporal } from 'temporal-polyfill';
import type {
  AllowanceFacts,
  DayRange,
  DocumentFacts,
  DocumentParty,
  LineFacts,
  VatRow,
} from '../../../../engine/e-documents/facts.ts';
import { profileFacts } from '../../../../engine/e-documents/profiles.ts';
import type { Decimal } from '../../../../engine/money/decimal.ts';
import type { XmlElement } from '../../../../platform/documents/xml.ts';
import { type Amounts, amountTexts, rateOfRow } from './amount-texts.ts';

const SCHEMA = 'urn:un:unece:uncefact:data:standard';
/** Form of a date: YYYYMMDD. */
const DAY_FORM = '102';

/**
 * The document in the syntax of the UN, Cross Industry Invoice D16B, which Factur-X carries. Elements stand in the
 * order of its schema; what is undefined is left out.
 *
 * Rule: e-documents.md#profiles.
 */
export function ciiOf(facts: DocumentFacts): XmlElement {
  const { customization, process } = profileFacts[facts.profile];
  const texts = amountTexts(facts.currency);
  return {
    'rsm:CrossIndustryInvoice': {
      '@xmlns:rsm': `${SCHEMA}:CrossIndustryInvoice:100`,
      '@xmlns:ram': `${SCHEMA}:ReusableAggregateBusinessInformationEntity:100`,
      '@xmlns:udt': `${SCHEMA}:UnqualifiedDataType:100`,
      '@xmlns:qdt': `${SCHEMA}:QualifiedDataType:100`,
      'rsm:ExchangedDocumentContext': {
        'ram:BusinessProcessSpecifiedDocumentContextParameter': process === null ? undefined : { 'ram:ID': process },
        'ram:GuidelineSpecifiedDocumentContextParameter': { 'ram:ID': customization },
      },
      'rsm:ExchangedDocument': {
        'ram:ID': facts.number,
        'ram:TypeCode': facts.typeCode,
        'ram:IssueDateTime': dateOf(facts.issuedOn),
        'ram:IncludedNote': facts.note === null ? undefined : { 'ram:Content': facts.note },
      },
      'rsm:SupplyChainTradeTransaction': {
        'ram:IncludedSupplyChainTradeLineItem': facts.lines.map((line, index) => lineOf(line, index, texts)),
        'ram:ApplicableHeaderTradeAgreement': {
          'ram:BuyerReference': facts.buyerReference ?? undefined,
          'ram:SellerTradeParty': partyOf(facts.seller, facts.seller.taxRegistration),
          'ram:BuyerTradeParty': partyOf(facts.buyer, null),
          'ram:BuyerOrderReferencedDocument':
            facts.orderNumber === null ? undefined : { 'ram:IssuerAssignedID': facts.orderNumber },
        },
        'ram:ApplicableHeaderTradeDelivery': {
          'ram:ShipToTradeParty': facts.delivery === null ? undefined : shipToOf(facts.delivery),
        },
        'ram:ApplicableHeaderTradeSettlement': settlementOf(facts, texts),
      },
    },
  };
}

const dateOf = (date: Temporal.PlainDate): XmlElement => ({
  'udt:DateTimeString': { '@format': DAY_FORM, '#': dayText(date) },
});
const dayText = (date: Temporal.PlainDate): string => date.toString().replaceAll('-', '');

const periodOf = (period: DayRange | null): XmlElement | undefined =>
  period === null ? undefined : { 'ram:StartDateTime': dateOf(period.from), 'ram:EndDateTime': dateOf(period.to) };

// What is outside the tax has no rate, not even 0 (BR-O-05, BR-O-06, BR-O-07).
const categoryOf = ({ category, rate }: { category: VatRow['category']; rate: Decimal }): XmlElement => ({
  'ram:TypeCode': 'VAT',
  'ram:CategoryCode': category,
  'ram:RateApplicablePercent': category === 'O' ? undefined : rate.toFixed(),
});

const lineOf = (line: LineFacts, index: number, texts: Amounts): XmlElement => ({
  'ram:AssociatedDocumentLineDocument': { 'ram:LineID': String(index + 1) },
  'ram:SpecifiedTradeProduct': { 'ram:Name': line.name, 'ram:Description': line.description ?? undefined },
  'ram:SpecifiedLineTradeAgreement': { 'ram:NetPriceProductTradePrice': { 'ram:ChargeAmount': line.price.toFixed() } },
  'ram:SpecifiedLineTradeDelivery': {
    'ram:BilledQuantity': { '@unitCode': line.unit, '#': line.quantity.toFixed() },
  },
  'ram:SpecifiedLineTradeSettlement': {
    'ram:ApplicableTradeTax': categoryOf(line),
    'ram:BillingSpecifiedPeriod': periodOf(line.period),
    'ram:SpecifiedTradeSettlementLineMonetarySummation': { 'ram:LineTotalAmount': texts.amount(line.amountCents) },
  },
});

function partyOf(party: DocumentParty, taxRegistration: string | null): XmlElement {
  const { contact, endpoint } = party;
  return {
    'ram:ID': party.identifier ?? undefined,
    'ram:Name': party.name,
    'ram:SpecifiedLegalOrganization':
      party.legalNumber === null
        ? undefined
        : {
            'ram:ID': {
              ...(party.legalScheme === null ? {} : { '@schemeID': party.legalScheme }),
              '#': party.legalNumber,
            },
          },
    'ram:DefinedTradeContact':
      contact.name || contact.phone || contact.email
        ? {
            'ram:PersonName': contact.name ?? undefined,
            'ram:TelephoneUniversalCommunication':
              contact.phone === null ? undefined : { 'ram:CompleteNumber': contact.phone },
            'ram:EmailURIUniversalCommunication': contact.email === null ? undefined : { 'ram:URIID': contact.email },
          }
        : undefined,
    'ram:PostalTradeAddress': {
      'ram:PostcodeCode': party.zipcode ?? undefined,
      'ram:LineOne': party.address_line1 ?? undefined,
      'ram:LineTwo': party.address_line2 ?? undefined,
      'ram:CityName': party.city ?? undefined,
      'ram:CountryID': party.country ?? undefined,
      'ram:CountrySubDivisionName': party.state ?? undefined,
    },
    'ram:URIUniversalCommunication':
      endpoint === null ? undefined : { 'ram:URIID': { '@schemeID': endpoint.scheme, '#': endpoint.id } },
    'ram:SpecifiedTaxRegistration': [
      ...(party.vatNumber === null ? [] : [{ 'ram:ID': { '@schemeID': 'VA', '#': party.vatNumber } }]),
      ...(taxRegistration === null ? [] : [{ 'ram:ID': { '@schemeID': 'FC', '#': taxRegistration } }]),
    ],
  };
}

const shipToOf = ({ city, zipcode, country }: NonNullable<DocumentFacts['delivery']>): XmlElement => ({
  'ram:PostalTradeAddress': {
    'ram:PostcodeCode': zipcode ?? undefined,
    'ram:CityName': city ?? undefined,
    'ram:CountryID': country ?? undefined,
  },
});

function settlementOf(facts: DocumentFacts, texts: Amounts): XmlElement {
  const { totals, payment, currency } = facts;
  const unlessZero = (cents: number) => (cents === 0 ? undefined : texts.amount(cents));
  return {
    'ram:CreditorReferenceID': (payment?.code === '59' ? payment.creditorId : null) ?? undefined,
    'ram:PaymentReference': payment?.reference,
    'ram:InvoiceCurrencyCode': currency,
    'ram:SpecifiedTradeSettlementPaymentMeans': payment === null ? undefined : meansOf(payment),
    'ram:ApplicableTradeTax': facts.vat.map((row) => ({
      'ram:CalculatedAmount': texts.amount(row.taxCents),
      'ram:TypeCode': 'VAT',
      'ram:ExemptionReason': row.exemptionText ?? undefined,
      'ram:BasisAmount': texts.amount(row.netCents),
      'ram:CategoryCode': row.category,
      'ram:ExemptionReasonCode': row.exemptionCode ?? undefined,
      'ram:RateApplicablePercent': rateOfRow(row, facts.profile),
    })),
    'ram:BillingSpecifiedPeriod': periodOf(facts.period),
    'ram:SpecifiedTradeAllowanceCharge': facts.allowances.map((each) => allowanceOf(each, texts)),
    'ram:SpecifiedTradePaymentTerms': termsOf(facts),
    'ram:SpecifiedTradeSettlementHeaderMonetarySummation': {
      'ram:LineTotalAmount': texts.amount(totals.linesCents),
      'ram:ChargeTotalAmount': unlessZero(totals.chargesCents),
      'ram:AllowanceTotalAmount': unlessZero(totals.allowancesCents),
      'ram:TaxBasisTotalAmount': texts.amount(totals.netCents),
      'ram:TaxTotalAmount': { '@currencyID': currency, '#': texts.amount(totals.taxCents) },
      'ram:RoundingAmount': unlessZero(totals.roundingCents),
      'ram:GrandTotalAmount': texts.amount(totals.grossCents),
      'ram:TotalPrepaidAmount': unlessZero(totals.paidCents),
      'ram:DuePayableAmount': texts.amount(totals.payableCents),
    },
    'ram:InvoiceReferencedDocument': facts.preceding.map(({ number, issuedOn }) => ({
      'ram:IssuerAssignedID': number,
      'ram:FormattedIssueDateTime':
        issuedOn === null ? undefined : { 'qdt:DateTimeString': { '@format': DAY_FORM, '#': dayText(issuedOn) } },
    })),
  };
}

const meansOf = (payment: NonNullable<DocumentFacts['payment']>): XmlElement => ({
  'ram:TypeCode': payment.code,
  ...('mandate' in payment
    ? {
        'ram:PayerPartyDebtorFinancialAccount':
          payment.debitedAccount === null ? undefined : { 'ram:IBANID': payment.debitedAccount },
      }
    : {}),
  ...('account' in payment
    ? {
        'ram:PayeePartyCreditorFinancialAccount': {
          'ram:IBANID': payment.account.id,
          'ram:AccountName': payment.account.holder ?? undefined,
        },
        'ram:PayeeSpecifiedCreditorFinancialInstitution':
          payment.account.bic === null ? undefined : { 'ram:BICID': payment.account.bic },
      }
    : {}),
});

const allowanceOf = (allowance: AllowanceFacts, texts: Amounts): XmlElement => ({
  'ram:ChargeIndicator': { 'udt:Indicator': String(allowance.isCharge) },
  'ram:ActualAmount': texts.amount(allowance.amountCents),
  'ram:ReasonCode': allowance.reasonCode ?? undefined,
  'ram:Reason': allowance.reason ?? undefined,
  'ram:CategoryTradeTax': categoryOf(allowance),
});

/**
 * Unlike UBL, this syntax asks for a date also where a note gives money back (BR-CO-25): it is the day of the note.
 */
function termsOf({ kind, terms, dueOn, issuedOn, totals, payment }: DocumentFacts): XmlElement | undefined {
  const due = dueOn ?? (kind === 'CreditNote' && terms === null && totals.payableCents > 0 ? issuedOn : null);
  const mandate = payment?.code === '59' ? payment.mandate : null;
  if (terms === null && due === null && mandate === null) return undefined;
  return {
    'ram:Description': terms ?? undefined,
    'ram:DueDateDateTime': due === null ? undefined : dateOf(due),
    'ram:DirectDebitMandateID': mandate ?? undefined,
  };
}
