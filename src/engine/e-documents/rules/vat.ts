import type { VatCategory } from '../../invoices/vat-breakdown.ts';
import type { Decimal } from '../../money/decimal.ts';
import type { AllowanceFacts, DocumentFacts, LineFacts, VatRow } from '../facts.ts';
import { isFilled, type Rule, rulesOf, type Side } from './rule.ts';

/** What a VAT category asks for. */
interface Category {
  category: VatCategory;
  /** How EN 16931 names it in its rules. */
  name: string;
  /** Whose number repairs the missing one, or undefined where all numbers are there. */
  missing(facts: DocumentFacts): Side | undefined;
  numbers: string;
  hasRate: boolean;
  /** Whether a row has to say why no tax is charged, must not, or need not. */
  reason: 'asked' | 'refused';
}

const hasTaxNumber = ({ seller }: DocumentFacts): boolean =>
  isFilled(seller.vatNumber) || isFilled(seller.taxRegistration);

const sellerTaxed = (facts: DocumentFacts): Side | undefined => (hasTaxNumber(facts) ? undefined : 'seller');
const bothVatNumbers = ({ seller, buyer }: DocumentFacts): Side | undefined => {
  if (!isFilled(seller.vatNumber)) return 'seller';
  return isFilled(buyer.vatNumber) ? undefined : 'buyer';
};

const categories: readonly Category[] = [
  {
    category: 'S',
    name: 'S',
    missing: sellerTaxed,
    numbers: 'the seller’s VAT number or tax registration',
    hasRate: true,
    reason: 'refused',
  },
  {
    category: 'Z',
    name: 'Z',
    missing: sellerTaxed,
    numbers: 'the seller’s VAT number or tax registration',
    hasRate: false,
    reason: 'refused',
  },
  {
    category: 'E',
    name: 'E',
    missing: sellerTaxed,
    numbers: 'the seller’s VAT number or tax registration',
    hasRate: false,
    reason: 'asked',
  },
  {
    category: 'AE',
    name: 'AE',
    missing: bothVatNumbers,
    numbers: 'the VAT numbers of both parties',
    hasRate: false,
    reason: 'asked',
  },
  {
    category: 'K',
    name: 'IC',
    missing: bothVatNumbers,
    numbers: 'the VAT numbers of both parties',
    hasRate: false,
    reason: 'asked',
  },
  {
    category: 'G',
    name: 'G',
    missing: ({ seller }) => (isFilled(seller.vatNumber) ? undefined : 'seller'),
    numbers: 'the seller’s VAT number',
    hasRate: false,
    reason: 'asked',
  },
  {
    category: 'O',
    name: 'O',
    missing: ({ seller, buyer }) => (isFilled(seller.vatNumber) || isFilled(buyer.vatNumber) ? 'document' : undefined),
    numbers: 'no VAT number of either party',
    hasRate: false,
    reason: 'asked',
  },
];

/** How far the base of a VAT row may be from its lines: not at all, since all are whole cents. */
const isBase = (facts: DocumentFacts, row: VatRow): boolean => {
  const isHere = (each: { category: VatCategory; rate: Decimal }) =>
    each.category === row.category && each.rate.eq(row.rate);
  const lines = facts.lines.filter(isHere).reduce((sum, line) => sum + line.amountCents, 0);
  const allowances = facts.allowances
    .filter(isHere)
    .reduce((sum, each) => sum + (each.isCharge ? each.amountCents : -each.amountCents), 0);
  return !Number.isSafeInteger(lines) || !Number.isSafeInteger(row.netCents) || lines + allowances === row.netCents;
};

const TAX_NUMBER = 'tax_identification_number';

/** The ten rules that each category has, with those that only some have. */
function rulesOfCategory({ category, name, missing, numbers, hasRate, reason }: Category) {
  const id = (number: string) => `BR-${name}-${number}`;
  type Part = { category: VatCategory; rate: Decimal };
  const is = (each: Part) => each.category === category;
  const rows = (facts: DocumentFacts) => facts.vat.filter(is);
  const used = {
    '02': (facts: DocumentFacts): readonly (LineFacts | AllowanceFacts)[] => facts.lines.filter(is),
    '03': (facts: DocumentFacts) => facts.allowances.filter((each) => is(each) && !each.isCharge),
    '04': (facts: DocumentFacts) => facts.allowances.filter((each) => is(each) && each.isCharge),
  };
  const hasRightRate = ({ rate }: Part) => (hasRate ? rate.gt(0) : rate.isZero());
  const parts = { '02': 'line', '03': 'allowance', '04': 'charge' } as const;
  const rates = { '02': '05', '03': '06', '04': '07' } as const;
  const numbersAreThere = (facts: DocumentFacts) => missing(facts) === undefined;
  return [
    {
      id: id('01'),
      side: 'tax' as Side,
      field: 'vat_category',
      text: `What is in category ${category} has its VAT row${hasRate ? '' : ', and only one'}.`,
      test: (facts: DocumentFacts) => {
        const isUsed = [...facts.lines, ...facts.allowances].some(is);
        const count = rows(facts).length;
        if (facts.vat.length === 0) return true; // BR-CO-18
        return hasRate ? !isUsed || count > 0 : isUsed ? count === 1 : count === 0;
      },
    },
    ...(['02', '03', '04'] as const).flatMap((number) => [
      {
        id: id(number),
        side: 'seller' as Side,
        sideOf: missing,
        field: TAX_NUMBER,
        text: `A ${parts[number]} in category ${category} needs ${numbers}.`,
        test: (facts: DocumentFacts) => used[number](facts).length === 0 || numbersAreThere(facts),
      },
      {
        id: id(rates[number]),
        side: 'tax' as Side,
        field: 'rate',
        text: `A ${parts[number]} in category ${category} has ${hasRate ? 'a rate above 0' : 'the rate 0'}.`,
        test: (facts: DocumentFacts) => used[number](facts).every(hasRightRate),
      },
    ]),
    {
      id: id('08'),
      side: 'document' as Side,
      field: 'sub_total_excluding_taxes_amount_cents',
      text: `The base of a VAT row in category ${category} is its lines less allowances plus charges.`,
      test: (facts: DocumentFacts) => rows(facts).every((row) => isBase(facts, row)),
    },
    {
      id: id('09'),
      side: 'document' as Side,
      field: 'taxes_amount_cents',
      text: hasRate
        ? 'A VAT row with a rate has a rate above 0.'
        : `The tax of a VAT row in category ${category} is 0.`,
      test: (facts: DocumentFacts) => rows(facts).every((row) => (hasRate ? row.rate.gt(0) : !row.taxCents)),
    },
    {
      id: id('10'),
      side: 'tax' as Side,
      field: 'exemption_text',
      text:
        reason === 'asked'
          ? `A VAT row in category ${category} says why no tax is charged.`
          : `A VAT row in category ${category} names no exemption.`,
      test: (facts: DocumentFacts) =>
        rows(facts).every(
          ({ exemptionCode, exemptionText }) =>
            (isFilled(exemptionCode) || isFilled(exemptionText)) === (reason === 'asked'),
        ),
    },
  ];
}

/** Rules of the VAT categories of EN 16931. */
export const vatRules: readonly Rule[] = rulesOf(
  ['en16931'],
  [
    ...categories.flatMap(rulesOfCategory),
    {
      id: 'BR-IC-11',
      side: 'document',
      field: 'fees.from_date',
      text: 'A supply within the Union states its period.',
      test: ({ vat, period }) => !vat.some(({ category }) => category === 'K') || period !== null,
    },
    {
      id: 'BR-IC-12',
      side: 'buyer',
      field: 'shipping_address.country',
      text: 'A supply within the Union states the country of delivery.',
      test: ({ vat, delivery }) => !vat.some(({ category }) => category === 'K') || isFilled(delivery?.country ?? null),
    },
    {
      id: 'BR-O-11',
      side: 'tax',
      field: 'vat_category',
      text: 'What is outside the tax stands alone on its document.',
      test: ({ vat }) => !vat.some(({ category }) => category === 'O') || vat.every(({ category }) => category === 'O'),
    },
  ],
);
