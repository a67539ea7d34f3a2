import { decimal as exactly } from '../../../src/engine/money/decimal.ts';
import type { ChargeModelName } from '../../../src/engine/pricing/charge-models.ts';
import { decimal, price } from '../../parts/amounts.ts';
import { t } from '../../texts/en.ts';
import type { Priced } from './calculate.ts';
import { isNothing, type Range, spanWords } from './price-words.ts';

/** A part of what a usage costs: what is priced, how much of it, and what that comes to. */
export interface Share {
  part: string;
  units: string;
  amount: string;
}

const RANGES: Partial<Record<ChargeModelName, string>> = {
  graduated: 'graduated_ranges',
  volume: 'volume_ranges',
  graduated_percentage: 'graduated_percentage_ranges',
};

interface PricedRange extends Range {
  units: string;
  total_with_flat_amount: string;
}

/** What a usage is made of: the share of each range, packages begun, rate and fixed amounts. None of a single price. */
export function sharesOf(model: ChargeModelName, { details }: Priced, currency: string): Share[] {
  const of = details as Record<string, string>;
  const amounts = (text: string | undefined) => price(text ?? '0', currency);
  switch (model) {
    case 'graduated':
    case 'graduated_percentage':
      return ((details[RANGES[model]!] as PricedRange[] | undefined) ?? []).map((range) => ({
        part: spanWords(range),
        units: decimal(range.units),
        amount: amounts(range.total_with_flat_amount),
      }));
    case 'volume':
      return [
        { part: t.plans.allUnits(amounts(of.per_unit_amount)), units: '', amount: amounts(of.per_unit_total_amount) },
        ...(isNothing(of.flat_unit_amount)
          ? []
          : [{ part: t.plans.flatHead, units: '', amount: amounts(of.flat_unit_amount) }]),
      ];
    case 'package': {
      const size = exactly(String(of.per_package_size));
      const packages = size.isZero()
        ? size
        : exactly(of.paid_units ?? '0')
            .div(size)
            .ceil();
      const amount = exactly(of.per_package_unit_amount ?? '0').times(packages);
      return [
        ...(isNothing(of.free_units) ? [] : [{ part: t.plans.freeUnits, units: decimal(of.free_units), amount: '' }]),
        { part: t.plans.packagesBegun, units: decimal(packages.toFixed()), amount: amounts(amount.toFixed()) },
      ];
    }
    case 'percentage':
      return [
        { part: `${decimal(of.rate)} %`, units: decimal(of.paid_units), amount: amounts(of.per_unit_total_amount) },
        ...(isNothing(of.fixed_fee_total_amount)
          ? []
          : [
              {
                part: t.plans.fixedPerEvent,
                units: decimal(String(of.paid_events)),
                amount: amounts(of.fixed_fee_total_amount),
              },
            ]),
        ...(isNothing(of.min_max_adjustment_total_amount)
          ? []
          : [{ part: t.plans.limits, units: '', amount: amounts(of.min_max_adjustment_total_amount) }]),
      ];
    default:
      return [];
  }
}

/** Units at which a range after the first begins. */
export function rangeStarts(model: ChargeModelName, properties: Record<string, unknown>): number[] {
  const key = RANGES[model];
  const ranges = key === undefined ? [] : ((properties[key] as Range[] | undefined) ?? []);
  return ranges
    .slice(1)
    .map(({ from_value }) => Number(from_value))
    .filter(Number.isFinite);
}
