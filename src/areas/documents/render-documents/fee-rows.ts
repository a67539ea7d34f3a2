import { COMMITMENT_NAME } from '../../../engine/invoices/commitment-name.ts';
import type { Row } from '../../../platform/documents/model.ts';
import { filterDisplayName } from '../../catalog/charges/view.ts';
import type { FeeRow } from '../../invoices/fees/queries.ts';
import type { Format } from '../../messaging/documents/number-and-date-formats.ts';
import type { DocumentTexts } from '../../messaging/documents/texts/document-texts.ts';
import { detailRows } from './detail-rows.ts';

/** Order of the kinds of fees below a subscription. */
const ORDER: readonly FeeRow['fee_type'][] = [
  'subscription',
  'fixed_charge',
  'charge',
  'commitment',
  'add_on',
  'credit',
];

const ONE_SECOND_MS = 1000;

/**
 * Rows of the fees of one subscription, or of those without one: the subscription first, then fixed charges, usage and
 * true-ups. A charge with filters or groups is a heading with a line for each, and one for all others; tiers, packages
 * and free units stand below their line. Zero usage is left out.
 *
 * Rule: invoice-operations.md#payload.
 */
export function feeRows(fees: readonly FeeRow[], title: string | null, texts: DocumentTexts, format: Format): Row[] {
  const shown = fees.filter((fee) => fee.amount_cents !== 0 || !fee.units.isZero() || fee.fee_type === 'subscription');
  const blocks = new Map<string, FeeRow[]>();
  for (const fee of [...shown].sort((a, b) => ORDER.indexOf(a.fee_type) - ORDER.indexOf(b.fee_type))) {
    const key = fee.charge_id === null ? fee.id : `${fee.charge_id} ${fee.from_datetime} ${fee.to_datetime}`;
    const block = blocks.get(key) ?? [];
    block.push(fee); // copying it would cost the square of a charge's groups
    blocks.set(key, block);
  }
  return [...blocks.values()].flatMap((block) => blockRows(block, title, texts, format));
}

function blockRows(block: FeeRow[], title: string | null, texts: DocumentTexts, format: Format): Row[] {
  const first = block[0]!;
  const parts = block.map((fee) => partName(fee, texts));
  if (block.length === 1 && parts[0] === null) return lineRows(first, lineName(first, title, texts), format, texts);
  const period = periodOf(first, format);
  const isSplit = block.some((fee, index) => fee.true_up_parent_fee_id === null && parts[index] !== null);
  const whole = (fee: FeeRow) => (isSplit ? texts.rest : nameOf(fee));
  return [
    { kind: 'heading', cells: [nameOf(first)], ...(period === null ? {} : { note: period }) },
    ...block.flatMap((fee, index) => lineRows(fee, parts[index] ?? whole(fee), format, texts, { isPart: true })),
  ];
}

function lineRows(fee: FeeRow, name: string, format: Format, texts: DocumentTexts, { isPart = false } = {}): Row[] {
  const details = detailRows(fee, texts, format);
  const notes = [
    fee.fee_type === 'add_on' && fee.item_description !== name ? fee.item_description : null,
    isPart ? null : periodOf(fee, format),
    inPricingUnit(fee, format),
  ].filter((note): note is string => note !== null && note !== '');
  return [
    {
      kind: isPart ? 'part' : 'line',
      ...(notes.length === 0 ? {} : { note: notes.join('\n') }),
      cells: [
        name,
        format.units(fee.units),
        // An average over tiers would be a price that was never agreed.
        details.length > 0 ? '' : unitPrice(fee, format),
        format.percent(fee.taxes_rate),
        format.amount(fee.amount_cents),
      ],
    },
    ...details,
  ];
}

/** The share of a plan's fee for a part of its period is a quotient without end: its price is what it comes to. */
const unitPrice = (fee: FeeRow, format: Format): string =>
  fee.fee_type === 'subscription' && fee.units.eq(1)
    ? format.amount(fee.amount_cents)
    : format.price(fee.precise_unit_amount);

const nameOf = (fee: FeeRow): string => fee.invoice_display_name ?? fee.item_name;

function lineName(fee: FeeRow, title: string | null, texts: DocumentTexts): string {
  if (fee.fee_type === 'commitment') {
    const own = fee.invoice_display_name;
    return own === null || own === COMMITMENT_NAME ? texts.commitment : own;
  }
  if (fee.fee_type !== 'subscription') return nameOf(fee);
  return nameOf(fee) === title ? texts.subscriptionFee : `${texts.subscriptionFee} – ${nameOf(fee)}`;
}

/** The words that distinguish a fee from others of its charge: true-up, filter and group; null when there are none. */
function partName(fee: FeeRow, texts: DocumentTexts): string | null {
  if (fee.true_up_parent_fee_id !== null) return texts.spendingMinimum;
  const filter =
    fee.filter_values === null
      ? []
      : [filterDisplayName({ invoice_display_name: fee.filter_display_name, values: fee.filter_values })];
  const groups = Object.entries(fee.grouped_by).map(([key, value]) => `${key}: ${value ?? texts.ungrouped}`);
  const name = [...filter, ...groups].join(' · ');
  return name === '' ? null : name;
}

/** A one-off fee is for one instant unless it was given a period. */
function periodOf(fee: FeeRow, format: Format): string | null {
  if (fee.from_datetime === null || fee.to_datetime === null) return null;
  const lasts = fee.to_datetime.epochMilliseconds - fee.from_datetime.epochMilliseconds >= ONE_SECOND_MS;
  return lasts ? format.period({ from: fee.from_datetime, to: fee.to_datetime }) : null;
}

/** Amount in the private unit of the charge and how it was converted. Rule: pricing-units.md. */
function inPricingUnit({ pricing_unit_details: details, units }: FeeRow, format: Format): string | null {
  if (details === null) return null;
  const { short_name, precise_unit_amount, conversion_rate } = details as Record<string, string>;
  return `${format.units(units)} × ${format.units(precise_unit_amount!)} ${short_name} × ${format.price(conversion_rate!)}`;
}
