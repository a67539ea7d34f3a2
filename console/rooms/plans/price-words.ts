import { decimal, price } from '../../parts/amounts.ts';

interface Range {
  from_value: number | string;
  to_value: number | string | null;
  per_unit_amount?: string;
  flat_amount?: string;
  rate?: string;
}

const span = ({ from_value: from, to_value: to }: Range): string =>
  to === null ? `${decimal(String(from))} and above` : `${decimal(String(from))} to ${decimal(String(to))}`;

/** The prices of a charge as sentences. */
export function priceWords(model: string, properties: Record<string, unknown>, currency: string): string[] {
  const of = properties as Record<string, string | undefined>;
  const flat = (amount: string | undefined) =>
    amount !== undefined && !/^0(\.0+)?$/.test(amount) ? ` plus ${price(amount, currency)}` : '';
  const ranges = (key: string) => (properties[key] as Range[] | undefined) ?? [];
  switch (model) {
    case 'standard':
      return [`${price(of.amount, currency)} for each unit`];
    case 'graduated':
      return ranges('graduated_ranges').map(
        (range) => `Units ${span(range)}: ${price(range.per_unit_amount, currency)} each${flat(range.flat_amount)}`,
      );
    case 'volume':
      return ranges('volume_ranges').map(
        (range) =>
          `With ${span(range)} units: ${price(range.per_unit_amount, currency)} for all of them${flat(range.flat_amount)}`,
      );
    case 'graduated_percentage':
      return ranges('graduated_percentage_ranges').map(
        (range) => `Amounts ${span(range)}: ${decimal(range.rate)} %${flat(range.flat_amount)}`,
      );
    case 'package':
      return [
        `${price(of.amount, currency)} for each begun ${decimal(of.package_size)} units` +
          (of.free_units && Number(of.free_units) > 0 ? `, the first ${decimal(of.free_units)} free` : ''),
      ];
    case 'percentage':
      return [
        `${decimal(of.rate)} % of the amount${of.fixed_amount ? ` plus ${price(of.fixed_amount, currency)} an event` : ''}`,
      ];
    case 'dynamic':
      return ['Each event brings its price'];
    default:
      return [];
  }
}
