import { type Decimal, decimal, ZERO } from '../../../engine/money/decimal.ts';
import type { Row } from '../../../platform/documents/model.ts';
import type { FeeRow } from '../../invoices/fees/queries.ts';
import { type Format, fill } from '../../messaging/documents/number-and-date-formats.ts';
import type { DocumentTexts } from '../../messaging/documents/texts/document-texts.ts';

type Details = Record<string, string | number | null | undefined>;

/**
 * The details of an amount of usage: tiers, packages, free units, fixed fees, each with what it comes to, not rounded:
 * together they are the fee before its rounding. Empty for prices that units and unit price explain, and for those in
 * a pricing unit, whose figures are in another currency.
 *
 * Rule: charge-models.md, usage-fees.md#units-shown "amount_details".
 */
export function detailRows(fee: FeeRow, texts: DocumentTexts, format: Format): Row[] {
  if (fee.pricing_unit_details !== null) return [];
  const details = fee.amount_details;
  const ranges = (details.graduated_ranges ?? details.graduated_percentage_ranges) as Details[] | undefined;
  if (ranges !== undefined) return ranges.flatMap((range) => tierRows(range, texts, format));
  if (details.per_package_size !== undefined) return packageRows(details as Details, texts, format);
  if (details.paid_events !== undefined) return percentageRows(details as Details, texts, format);
  if (details.flat_unit_amount !== undefined) return volumeRows(details as Details, texts, format);
  return [];
}

const detail = (name: string, units = '', price = '', amount = ''): Row => ({
  kind: 'detail',
  cells: [name, units, price, '', amount],
});
const figure = (value: Details[string]): Decimal => decimal(value ?? 0);
/** Empty where a fee does not say what this part of it comes to. */
const sumOf = (value: Details[string], format: Format, less: Decimal = ZERO): string =>
  value === undefined || value === null ? '' : format.price(decimal(value).minus(less));

function tierRows(range: Details, texts: DocumentTexts, format: Format): Row[] {
  const from = format.units(figure(range.from_value));
  const name =
    range.to_value === null
      ? fill(texts.lastTier, { from })
      : fill(texts.tier, { from, to: format.units(figure(range.to_value)) });
  const price =
    range.rate === undefined ? format.price(figure(range.per_unit_amount)) : format.percent(figure(range.rate));
  const flat = figure(range.flat_unit_amount);
  return [
    detail(name, format.units(figure(range.units)), price, sumOf(range.total_with_flat_amount, format, flat)),
    ...flatRow(flat, name, texts, format),
  ];
}

const flatRow = (flat: Decimal, name: string, texts: DocumentTexts, format: Format): Row[] =>
  flat.isZero() ? [] : [detail(`${texts.flatFee} (${name})`, '1', format.price(flat), format.price(flat))];

function packageRows(details: Details, texts: DocumentTexts, format: Format): Row[] {
  const size = figure(details.per_package_size);
  if (size.isZero()) return [];
  const count = figure(details.paid_units).div(size).ceil();
  const price = figure(details.per_package_unit_amount);
  return [
    ...freeRow(details, texts, format),
    detail(
      `${texts.packages} (${format.units(size)})`,
      format.units(count),
      format.price(price),
      format.price(price.times(count)),
    ),
  ];
}

const freeRow = (details: Details, texts: DocumentTexts, format: Format): Row[] =>
  figure(details.free_units).isZero() ? [] : [detail(texts.freeUnits, format.units(figure(details.free_units)))];

function percentageRows(details: Details, texts: DocumentTexts, format: Format): Row[] {
  const fixed = figure(details.fixed_fee_total_amount);
  const adjustment = figure(details.min_max_adjustment_total_amount);
  return [
    ...freeRow(details, texts, format),
    detail(
      texts.rate,
      format.units(figure(details.paid_units)),
      format.percent(figure(details.rate)),
      sumOf(details.per_unit_total_amount, format),
    ),
    ...(fixed.isZero()
      ? []
      : [
          detail(
            texts.flatFee,
            format.units(figure(details.paid_events)),
            format.price(figure(details.fixed_fee_unit_amount)),
            format.price(fixed),
          ),
        ]),
    ...(adjustment.isZero() ? [] : [detail(texts.minMaxAdjustment, '', '', format.price(adjustment))]),
  ];
}

function volumeRows(details: Details, texts: DocumentTexts, format: Format): Row[] {
  const flat = figure(details.flat_unit_amount);
  if (flat.isZero()) return [];
  const total = sumOf(details.per_unit_total_amount, format);
  return [
    detail(texts.unitPrice, '', format.price(figure(details.per_unit_amount)), total),
    detail(texts.flatFee, '1', format.price(flat), format.price(flat)),
  ];
}
