import { Decimal, decimalText, ZERO } from '../../../engine/money/decimal.ts';
import type { BookSettings } from '../../catalog/model-books/book-settings.ts';
import type { FiguresRow, GroupKey, MarginRow } from './report.ts';
import type { FiguresView, Group, MarginView } from './schema.ts';

const RATE_DIGITS = 4;

/** Fields that say what a row is about. */
const FIELDS: Readonly<Partial<Record<Group, string>>> = {
  customer: 'external_customer_id',
  subscription: 'external_subscription_id',
  plan: 'plan_code',
};

/** Under which name a row shows what it is about. */
export const nameOfKey = (key: GroupKey): string =>
  'dimension' in key ? key.dimension : (FIELDS[key.group] ?? key.group);

/** A row of a report: what it is about, and its figures. */
export function marginView(keys: readonly GroupKey[], row: MarginRow, settings: BookSettings): MarginView {
  const named: Record<string, string | null> = {};
  const dimensions: Record<string, string | null> = {};
  for (const [place, key] of keys.entries()) {
    const value = row[`k${place}`] ?? null;
    ('dimension' in key ? dimensions : named)[nameOfKey(key)] = value;
  }
  return { ...named, ...(Object.keys(dimensions).length === 0 ? {} : { dimensions }), ...figuresView(row, settings) };
}

/**
 * Figures of a row. Revenue that cannot be converted is unknown, and so is the margin.
 *
 * Rule: margins.md#revenue.
 */
export function figuresView(row: FiguresRow, { currency }: BookSettings): FiguresView {
  const { cost } = row;
  const revenue = row.no_conversion_rate ? null : row.revenue;
  const margin = revenue === null ? null : revenue.minus(cost);
  const flags = [
    ...(row.has_left_over ? ['groups_left_over'] : []),
    ...(row.unpriced > 0 ? ['incomplete'] : []),
    ...(row.no_conversion_rate ? ['no_conversion_rate'] : []),
    ...(row.not_billed ? ['not_billed'] : []),
    ...(row.not_invoiced ? ['not_invoiced'] : []),
  ];
  return {
    currency,
    events: row.events,
    unpriced_events: row.unpriced,
    input_tokens: row.input_tokens.toNumber(),
    output_tokens: row.output_tokens.toNumber(),
    precise_cost_cents: decimalText(cost),
    precise_revenue_cents: revenue && decimalText(revenue),
    precise_margin_cents: margin && decimalText(margin),
    margin_rate:
      revenue === null || revenue.eq(ZERO)
        ? null
        : revenue.minus(cost).div(revenue).toDecimalPlaces(RATE_DIGITS, Decimal.ROUND_HALF_UP).toNumber(),
    flags,
  };
}
