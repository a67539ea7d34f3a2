import { decimal, price } from '../../parts/amounts.ts';
import { t } from '../../texts/en.ts';

interface Range {
  from_value: number | string;
  to_value: number | string | null;
  per_unit_amount?: string;
  flat_amount?: string;
  rate?: string;
}

const span = ({ from_value: from, to_value: to }: Range): string =>
  to === null ? t.plans.rangeOpenWords(decimal(String(from))) : `${decimal(String(from))} to ${decimal(String(to))}`;

/** The prices of a charge as sentences. */
export function priceWords(model: string, properties: Record<string, unknown>, currency: string): string[] {
  const of = properties as Record<string, string | undefined>;
  const flat = (amount: string | undefined) =>
    amount !== undefined && !/^0(\.0+)?$/.test(amount) ? t.plans.plusFlat(price(amount, currency)) : '';
  const ranges = (key: string) => (properties[key] as Range[] | undefined) ?? [];
  switch (model) {
    case 'standard':
      return [t.plans.wordsStandard(price(of.amount, currency))];
    case 'graduated':
      return ranges('graduated_ranges').map((range) =>
        t.plans.wordsGraduated(span(range), price(range.per_unit_amount, currency), flat(range.flat_amount)),
      );
    case 'volume':
      return ranges('volume_ranges').map((range) =>
        t.plans.wordsVolume(span(range), price(range.per_unit_amount, currency), flat(range.flat_amount)),
      );
    case 'graduated_percentage':
      return ranges('graduated_percentage_ranges').map((range) =>
        t.plans.wordsGraduatedPercentage(span(range), decimal(range.rate), flat(range.flat_amount)),
      );
    case 'package':
      return [
        t.plans.wordsPackage(price(of.amount, currency), decimal(of.package_size)) +
          (of.free_units && Number(of.free_units) > 0 ? t.plans.wordsFreeUnits(decimal(of.free_units)) : ''),
      ];
    case 'percentage':
      return [
        `${decimal(of.rate)} % of the amount${of.fixed_amount ? t.plans.wordsFixedPerEvent(price(of.fixed_amount, currency)) : ''}`,
      ];
    case 'dynamic':
      return [t.plans.wordsDynamic];
    default:
      return [];
  }
}
