import { allocate } from '../../money/allocate.ts';
import { type Cents, cents, roundToCents, sumCents } from '../../money/cents.ts';
import { Decimal, decimal, sum } from '../../money/decimal.ts';
import { PRECISE_AMOUNT_DIGITS, roundToDigits, TAX_RATE_DIGITS } from '../../money/precision.ts';
import type { Tax } from '../tax.ts';
import { type AppliedFeeTax, type FeeTaxes, type TaxedAmount, taxBase } from '../tax-fee.ts';
import type { AppliedInvoiceTax, InvoiceTaxes } from '../tax-invoice.ts';
import type { NamedTax } from './name-taxes.ts';

/** Fractional digits of the taxed share of an amount. */
const BASE_RATE_DIGITS = 4;

/** What an engine collects for a fee, and the amount that it was asked about. */
export interface CollectedTaxes {
  netCents: number;
  collectedCents: number;
  taxes: readonly NamedTax[];
}

/** A tax of a fee whose amount an engine computed. */
export interface CollectedFeeTax extends AppliedFeeTax {
  /** The share of the fee that is taxed: 1 is all of it, 4 digits. */
  baseRate: Decimal;
}

/**
 * The taxes of a fee as an engine collects them: the collected cents, spread over the taxes by their exact amounts.
 *
 *   15000, 4.81 % is 721.5, 722 collected  →  722 on the whole base
 *   10000, 8.25 % is 660, 660 collected    →  660 on 0.8 of the base
 *
 * Rule: tax-engines.md#what-the-answer-becomes.
 */
export function collectedFeeTaxes({ netCents, collectedCents, taxes }: CollectedTaxes): FeeTaxes & {
  appliedTaxes: CollectedFeeTax[];
} {
  const collected = cents(collectedCents);
  const shares = allocate(
    collected,
    taxes.map(({ amountCents }) => Decimal.abs(amountCents)),
  );
  return {
    appliedTaxes: taxes.map((tax, index) => ({
      tax: taxOf(tax),
      amountCents: shares[index]!,
      preciseAmountCents: roundToDigits(tax.amountCents, PRECISE_AMOUNT_DIGITS),
      baseRate: baseRateOf(tax, { netCents, shareCents: shares[index]! }),
    })),
    taxesAmountCents: collected,
    taxesPreciseAmountCents: roundToDigits(sum(taxes.map((tax) => tax.amountCents)), PRECISE_AMOUNT_DIGITS),
    taxesRate: sum(taxes.map(({ rate }) => rate)),
  };
}

/** It is in no catalogue, so it has no id. */
const taxOf = ({ code, name, description, rate }: NamedTax): Tax => ({ id: null, code, name, description, rate });

/** Less than 1 if an engine taxes a part of the amount only. An amount that rounding explains is taxed as a whole. */
function baseRateOf(
  { rate, amountCents }: NamedTax,
  { netCents, shareCents }: { netCents: number; shareCents: Cents },
): Decimal {
  const whole = decimal(netCents).times(rate).div(100);
  const rounded = roundToCents(whole);
  if (whole.isZero() || rounded === shareCents || rounded === roundToCents(amountCents)) return decimal(1);
  return roundToDigits(amountCents.div(whole), BASE_RATE_DIGITS);
}

/** A fee with the taxes that an engine collects for it. */
export interface CollectedFee extends TaxedAmount {
  appliedTaxes: readonly AppliedFeeTax[];
  taxesAmountCents: Cents;
}

/**
 * Taxes of a whole invoice that an engine taxed: the sum of its fees' taxes, never computed again, because what is
 * filed is what is billed.
 *
 *   three fees of 3333 at 8.875 %, 296 collected for each  →  888, although 8.875 % of 9999 is 887
 *
 * Rule: tax-engines.md#what-the-answer-becomes.
 */
export function collectedInvoiceTaxes(fees: readonly CollectedFee[], netTotalCents: Cents): InvoiceTaxes {
  const appliedTaxes = gatherByCode(fees).map(({ tax, carriers }): AppliedInvoiceTax => {
    const bases = carriers.map(({ fee }) => taxBase(fee));
    const taxable = carriers.map(({ applied }, index) => bases[index]!.times(applied.baseRate ?? 1));
    return {
      tax,
      feesAmountCents: roundToCents(sum(bases)),
      taxableBaseAmountCents: roundToCents(sum(taxable)),
      amountCents: sumCents(carriers.map(({ applied }) => applied.amountCents)),
    };
  });
  const weighted = appliedTaxes.map(({ tax, feesAmountCents }) =>
    netTotalCents > 0 ? decimal(feesAmountCents).div(netTotalCents).times(decimal(tax.rate)) : decimal(0),
  );
  return {
    appliedTaxes,
    taxesAmountCents: sumCents(fees.map(({ taxesAmountCents }) => taxesAmountCents)),
    taxesRate: roundToDigits(sum(weighted), TAX_RATE_DIGITS),
  };
}

interface Gathered {
  tax: Tax;
  carriers: { fee: CollectedFee; applied: AppliedFeeTax }[];
}

/** Every tax with the fees that carry it, in order of first appearance. */
function gatherByCode(fees: readonly CollectedFee[]): Gathered[] {
  const gathered = new Map<string, Gathered>();
  for (const fee of fees) {
    for (const applied of fee.appliedTaxes) {
      const { tax } = applied;
      const known = gathered.get(tax.code) ?? { tax, carriers: [] };
      known.carriers.push({ fee, applied });
      gathered.set(tax.code, known);
    }
  }
  return [...gathered.values()];
}
