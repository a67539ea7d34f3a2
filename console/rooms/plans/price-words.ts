import { decimal, price } from '../../parts/amounts.ts';
import { t } from '../../texts/en.ts';

export interface Range {
  from_value: number | string;
  to_value: number | string | null;
  per_unit_amount?: string;
  flat_amount?: string;
  rate?: string;
}

/** The units of a range: `11 to 30`, `31 and above`. */
export const spanWords = ({ from_value: from, to_value: to }: Range): string =>
  to === null ? t.plans.rangeOpenWords(decimal(String(from))) : `${decimal(String(from))} to ${decimal(String(to))}`;

/** Whether a decimal text is absent, empty or zero. */
export const isNothing = (text: string | undefined | null): boolean => !text || /^-?0*(\.0*)?$/.test(text);

/** The prices of a charge as sentences. */
export function priceWords(model: string, properties: Record<string, unknown>, currency: string): string[] {
  const of = properties as Record<string, string | undefined>;
  const flat = (amount: string | undefined) => (isNothing(amount) ? '' : t.plans.plusFlat(price(amount, currency)));
  const ranges = (key: string) => (properties[key] as Range[] | undefined) ?? [];
  switch (model) {
    case 'standard':
      return [t.plans.wordsStandard(price(of.amount, currency))];
    case 'graduated':
      return ranges('graduated_ranges').map((range) =>
        isNothing(range.per_unit_amount)
          ? t.plans.wordsFree(spanWords(range), flat(range.flat_amount))
          : t.plans.wordsGraduated(spanWords(range), price(range.per_unit_amount, currency), flat(range.flat_amount)),
      );
    case 'volume':
      return ranges('volume_ranges').map((range) =>
        t.plans.wordsVolume(spanWords(range), price(range.per_unit_amount, currency), flat(range.flat_amount)),
      );
    case 'graduated_percentage':
      return ranges('graduated_percentage_ranges').map((range) =>
        t.plans.wordsGraduatedPercentage(spanWords(range), decimal(range.rate), flat(range.flat_amount)),
      );
    case 'package':
      return [
        t.plans.wordsPackage(price(of.amount, currency), decimal(of.package_size)) +
          (of.free_units && Number(of.free_units) > 0 ? t.plans.wordsFreeUnits(decimal(of.free_units)) : ''),
      ];
    case 'percentage':
      return [
        t.plans.wordsPercentage(
          decimal(of.rate),
          isNothing(of.fixed_amount) ? '' : t.plans.wordsFixedPerEvent(price(of.fixed_amount, currency)),
        ),
        ...words(of.free_units_per_events, (events) => t.plans.wordsFreeEvents(decimal(events))),
        ...words(of.free_units_per_total_aggregation, (amount) => t.plans.wordsFreeAmount(price(amount, currency))),
        ...words(of.per_transaction_min_amount, (amount) => t.plans.wordsLeast(price(amount, currency))),
        ...words(of.per_transaction_max_amount, (amount) => t.plans.wordsMost(price(amount, currency))),
      ];
    case 'dynamic':
      return [t.plans.wordsDynamic];
    default:
      return [];
  }
}

/** A sentence about a term that a charge has. */
const words = (term: string | number | undefined, tell: (term: string) => string): string[] =>
  isNothing(term === undefined ? term : String(term)) ? [] : [tell(String(term))];
