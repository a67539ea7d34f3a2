import { exponentOf, isCurrency } from '../../money/currency.ts';
import { decimal } from '../../money/decimal.ts';
import type { DocumentFacts } from '../facts.ts';
import { isAmount, MOST_DECIMALS, type Rule, rulesOf } from './rule.ts';

/** How far a row's tax may be from its base times its rate: receivers refuse one whole main unit. */
const MOST_TAX_OFF = 1;

const sumOf = <Item>(items: readonly Item[], read: (item: Item) => number): number =>
  items.reduce((sum, item) => sum + read(item), 0);
const allowanceSum = (facts: DocumentFacts, isCharge: boolean): number =>
  sumOf(
    facts.allowances.filter((each) => each.isCharge === isCharge),
    (each) => each.amountCents,
  );

/** Totals, allowances and VAT rows are there, and add up to the cent. */
export const amountRules: readonly Rule[] = rulesOf(
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
      id: 'BR-31',
      side: 'document',
      field: 'coupons_amount_cents',
      text: 'Every allowance and charge has an amount above 0.',
      test: ({ allowances }) => allowances.every(({ amountCents }) => isAmount(amountCents) && amountCents > 0),
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
  ],
);
