import { Temporal } from 'temporal-polyfill';
import { type AmountLine, documentAmounts, type StoredAmounts } from '../../../src/engine/e-documents/amounts.ts';
import type { DocumentFacts, DocumentParty, LineFacts, SellerFacts } from '../../../src/engine/e-documents/facts.ts';
import type { Profile } from '../../../src/engine/e-documents/profiles.ts';
import type { VatTreatment } from '../../../src/engine/e-documents/vat-category.ts';
import { cents } from '../../../src/engine/money/cents.ts';
import { decimal } from '../../../src/engine/money/decimal.ts';

export const day = (text: string) => Temporal.PlainDate.from(text);

const STANDARD: VatTreatment = { category: 'S', exemptionCode: null, exemptionText: null };

/** A line with its tax at the rate, exactly. */
export const amountLine = (
  amountCents: number,
  rate: string,
  allowanceCents: number | string = 0,
  treatment: VatTreatment = STANDARD,
): AmountLine => ({
  category: treatment.category,
  rate: decimal(rate),
  amountCents: cents(amountCents),
  preciseAllowanceCents: decimal(allowanceCents),
  preciseTaxCents: decimal(amountCents).minus(allowanceCents).times(rate).div(100),
  treatment,
});

export const stored = (fields: Partial<StoredAmounts> & { netCents: number; taxCents: number }): StoredAmounts => {
  const grossCents = fields.netCents + fields.taxCents;
  const paidCents = fields.paidCents ?? 0;
  return {
    couponsCents: 0,
    alreadyInvoicedCents: 0,
    grossCents,
    paidCents,
    payableCents: grossCents - paidCents,
    ...fields,
  };
};

export const seller = (fields: Partial<SellerFacts> = {}): SellerFacts => ({
  name: 'Muster GmbH',
  address_line1: 'Hauptstr. 1',
  address_line2: null,
  city: 'Berlin',
  zipcode: '10115',
  state: null,
  country: 'DE',
  endpoint: { id: 'DE123456789', scheme: '9930' },
  identifier: null,
  legalNumber: null,
  legalScheme: null,
  vatNumber: 'DE123456789',
  taxRegistration: null,
  contact: { name: 'Rechnungsstelle', phone: '+49 30 1234567', email: 'billing@muster.example' },
  ...fields,
});

export const buyer = (fields: Partial<DocumentParty> = {}): DocumentParty => ({
  name: 'Client SA',
  address_line1: '1 rue de Rivoli',
  address_line2: null,
  city: 'Paris',
  zipcode: '75001',
  state: null,
  country: 'FR',
  endpoint: { id: '732829320', scheme: '0225' },
  identifier: null,
  legalNumber: null,
  legalScheme: null,
  vatNumber: 'FR44732829320',
  contact: { name: null, phone: null, email: null },
  ...fields,
});

const lineOf = ({ amountCents, category, rate }: AmountLine, index: number): LineFacts => ({
  name: `Line ${index + 1}`,
  description: null,
  quantity: decimal(1),
  unit: 'C62',
  price: decimal(amountCents).div(100).abs(),
  amountCents,
  category,
  rate,
  period: { from: day('2026-03-01'), to: day('2026-03-31') },
});

/** A document that every receiver takes, of these lines and amounts. */
export function factsOf(
  profile: Profile,
  lines: readonly AmountLine[] = [amountLine(10_000, '19')],
  amounts: StoredAmounts = stored({ netCents: 10_000, taxCents: 1900 }),
  fields: Partial<DocumentFacts> = {},
): DocumentFacts {
  const { allowances, vat, totals, meet } = documentAmounts(lines, amounts);
  return {
    profile,
    kind: 'Invoice',
    typeCode: '380',
    number: 'MUS-001',
    issuedOn: day('2026-04-01'),
    dueOn: day('2026-04-15'),
    currency: 'EUR',
    note: null,
    buyerReference: '04011000-12345-03',
    orderNumber: null,
    preceding: [],
    period: { from: day('2026-03-01'), to: day('2026-03-31') },
    seller: seller(),
    buyer: buyer(),
    delivery: null,
    payment: {
      code: '58',
      reference: 'MUS-001',
      account: { id: 'DE89370400440532013000', bic: null, holder: null },
    },
    terms: 'Due 2026-04-15',
    lines: lines.map(lineOf),
    allowances,
    vat,
    totals,
    unavailable: meet ? [] : ['amounts_do_not_meet'],
    ...fields,
  };
}
