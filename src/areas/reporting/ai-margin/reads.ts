import { Temporal } from 'temporal-polyfill';
import { soldPart } from '../../../engine/ai/rating/sold-part.ts';
import { Decimal, decimalText, ZERO } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import { limitOf, pageMeta } from '../../../platform/lists/pagination.ts';
import { type FieldErrors, refuse } from '../../../platform/refusal.ts';
import { INVALID, OUT_OF_RANGE, TOO_LONG } from '../../../platform/schema/fields.ts';
import { type BookSettings, bookSettings } from '../../catalog/model-books/book-settings.ts';
import { getCustomer } from '../../customers/customers/queries.ts';
import {
  type FiguresRow,
  type GroupKey,
  type MarginFacts,
  type MarginRow,
  MOST_DAY_ROWS,
  readMarginFacts,
  readMargins,
  type SoldTerm,
} from './queries.ts';
import {
  type CustomerMarginQuery,
  type FiguresView,
  GROUPS,
  type Group,
  type MarginQuery,
  type MarginView,
} from './schema.ts';

/** How many days a report spans, both ends included. */
const MOST_DAYS = 400;
const MOST_KEYS = 3;
const RATE_DIGITS = 4;

/**
 * Cost, revenue and margin of calls of language models, by what was asked for.
 *
 * @throws Refusal 422 to, group_by, dimensions; base: value_is_out_of_range, beyond two million sums of days
 * Rule: margins.md#report.
 */
export async function showMargins(ctx: Context, { query }: { query: MarginQuery }) {
  const { from, to, group_by: names = [] } = query;
  refuseSpan(from, to);
  const window = { ...query, from: from.toString(), to: to.toString() };
  const facts = await readMarginFacts(ctx, window);
  const settings = bookSettings(facts.ai_settings);
  const keys = keysOf(names, settings, query.dimensions);
  if (facts.day_rows > MOST_DAY_ROWS) throw refuse.invalid({ base: [OUT_OF_RANGE] });
  const { rows, totals, totalCount } = await readMargins(ctx, window, {
    keys,
    terms: termsOf(facts),
    order: query.order,
    ...limitOf(query),
  });
  return {
    margins: rows.map((row): MarginView => ({ ...namesOf(keys, row), ...figuresView(row, settings) })),
    totals: figuresView(totals, settings),
    meta: pageMeta(query, totalCount),
  };
}

/**
 * The same of one customer by model and day.
 *
 * @throws Refusal 404 customer
 */
export async function showCustomerMargins(
  ctx: Context,
  { external_id, query }: { external_id: string; query: CustomerMarginQuery },
) {
  const customer = await getCustomer(ctx, external_id);
  const { external_id: own } = customer;
  return showMargins(ctx, {
    query: { ...query, customer: own, subscription: undefined, plan: undefined, group_by: ['model', 'day'] },
  });
}

function refuseSpan(from: Temporal.PlainDate, to: Temporal.PlainDate): void {
  const days = from.until(to, { largestUnit: 'days' }).days + 1;
  if (days < 1 || days > MOST_DAYS) throw refuse.invalid({ to: [OUT_OF_RANGE] });
}

/** What to group by, names of properties after those of groups. */
function keysOf(
  names: readonly string[],
  { marginDimensions }: BookSettings,
  filtered: Readonly<Record<string, string>> = {},
): GroupKey[] {
  const errors: FieldErrors = {};
  const isKnown = (name: string) => isGroup(name) || marginDimensions.includes(name);
  if (new Set(names).size !== names.length || !names.every(isKnown)) errors.group_by = [INVALID];
  else if (names.length > MOST_KEYS) errors.group_by = [TOO_LONG];
  if (!Object.keys(filtered).every((name) => marginDimensions.includes(name))) errors.dimensions = [INVALID];
  if (Object.keys(errors).length > 0) throw refuse.invalid(errors);
  return names.map((name): GroupKey => (isGroup(name) ? { group: name } : { dimension: name }));
}

const isGroup = (name: string): name is Group => GROUPS.includes(name as Group);

/** Which part of each group's amounts is sold, under each plan. */
function termsOf({ groups, charges }: MarginFacts): SoldTerm[] {
  const sellers = new Map<string, ReturnType<typeof soldPart>>();
  return groups.map(({ plan_id, group_hash, code, texts }) => {
    const key = JSON.stringify([plan_id, code]);
    const sold =
      sellers.get(key) ??
      soldPart(
        charges
          .filter((charge) => charge.plan_id === plan_id && charge.code === code)
          .map(({ filters, ...charge }) => ({
            ...charge,
            filters: filters.map((filter) => ({ ...filter, created_at: Temporal.Instant.from(filter.created_at) })),
          })),
      );
    sellers.set(key, sold);
    return { plan_id, group_hash, part: sold(texts) };
  });
}

/** Fields that say what a row is about. */
const FIELDS: Readonly<Partial<Record<Group, string>>> = {
  customer: 'external_customer_id',
  subscription: 'external_subscription_id',
  plan: 'plan_code',
};

function namesOf(keys: readonly GroupKey[], row: MarginRow): Partial<MarginView> {
  const named: Record<string, string | null> = {};
  const dimensions: Record<string, string | null> = {};
  for (const [place, key] of keys.entries()) {
    const value = row[`k${place}`] ?? null;
    if ('dimension' in key) dimensions[key.dimension] = value;
    else named[FIELDS[key.group] ?? key.group] = value;
  }
  return { ...named, ...(Object.keys(dimensions).length === 0 ? {} : { dimensions }) };
}

function figuresView(row: FiguresRow, { currency }: BookSettings): FiguresView {
  const { cost, revenue } = row;
  const margin = revenue.minus(cost);
  const flags = [
    ...(row.has_left_over ? ['groups_left_over'] : []),
    ...(row.unpriced > 0 ? ['incomplete'] : []),
    ...(row.not_billed ? ['not_billed'] : []),
  ];
  return {
    currency,
    events: row.events,
    unpriced_events: row.unpriced,
    input_tokens: row.input_tokens.toNumber(),
    output_tokens: row.output_tokens.toNumber(),
    precise_cost_cents: decimalText(cost),
    precise_revenue_cents: decimalText(revenue),
    precise_margin_cents: decimalText(margin),
    margin_rate: revenue.eq(ZERO)
      ? null
      : margin.div(revenue).toDecimalPlaces(RATE_DIGITS, Decimal.ROUND_HALF_UP).toNumber(),
    flags,
  };
}
