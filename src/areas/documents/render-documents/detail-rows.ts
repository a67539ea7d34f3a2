import { type Decimal, decimal } from '../../../engine/money/decimal.ts';
import type { Row } from '../../../platform/documents/model.ts';
import type { FeeRow } from '../../invoices/fees/queries.ts';
import { type Format, fill } from '../../messaging/documents/number-and-date-formats.ts';
import type { DocumentTexts } from '../../messaging/documents/texts/document-texts.ts';

type Details = Record<string, string | number | null | undefined>;

/**
 * The details of a usage fee's amount: tiers, packages, free units, fixed fees. Empty for prices that units and unit
 * price explain, and for those in a pricing unit, whose figures are in another currency.
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

const detail = (name: string, units = '', price = ''): Row => ({ kind: 'detail', cells: [name, units, price, '', ''] });
const figure = (value: Details[string]): Decimal => decimal(value ?? 0);

function tierRows(range: Details, texts: DocumentTexts, format: Format): Row[] {
  const from = format.units(figure(range.from_value));
  const name =
    range.to_value === null
      ? fill(texts.lastTier, { from })
      : fill(texts.tier, { from, to: format.units(figure(range.to_value)) });
  const price =
    range.rate === undefined ? format.price(figure(range.per_unit_amount)) : format.percent(figure(range.rate));
  return [
    detail(name, format.units(figure(range.units)), price),
    ...flatRow(range.flat_unit_amount, name, texts, format),
  ];
}

const flatRow = (flat: Details[string], name: string, texts: DocumentTexts, format: Format): Row[] =>
  figure(flat).isZero() ? [] : [detail(`${texts.flatFee} (${name})`, '1', format.price(figure(flat)))];

function packageRows(details: Details, texts: DocumentTexts, format: Format): Row[] {
  const size = figure(details.per_package_size);
  if (size.isZero()) return [];
  const count = figure(details.paid_units).div(size).ceil();
  return [
    ...freeRow(details, texts, format),
    detail(
      `${texts.packages} (${format.units(size)})`,
      format.units(count),
      format.price(figure(details.per_package_unit_amount)),
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
    detail(texts.rate, format.units(figure(details.paid_units)), format.percent(figure(details.rate))),
    ...(fixed.isZero()
      ? []
      : [
          detail(
            texts.flatFee,
            format.units(figure(details.paid_events)),
            format.price(figure(details.fixed_fee_unit_amount)),
          ),
        ]),
    ...(adjustment.isZero() ? [] : [detail(texts.minMaxAdjustment, '', format.price(adjustment))]),
  ];
}

const volumeRows = (details: Details, texts: DocumentTexts, format: Format): Row[] =>
  figure(details.flat_unit_amount).isZero()
    ? []
    : [
        detail(texts.unitPrice, '', format.price(figure(details.per_unit_amount))),
        detail(texts.flatFee, '1', format.price(figure(details.flat_unit_amount))),
      ];
