import { Temporal } from 'temporal-polyfill';
import { soldPart } from '../../../engine/ai/rating/sold-part.ts';
import { filterChooser } from '../../../engine/metrics/choose-filter.ts';
import type { Context } from '../../../platform/context.ts';
import { groupRows } from '../../../platform/lists/group-rows.ts';
import { limitOf, pageMeta } from '../../../platform/lists/pagination.ts';
import { Answer } from '../../../platform/operation.ts';
import { type FieldErrors, refuse } from '../../../platform/refusal.ts';
import { INVALID, OUT_OF_RANGE, TOO_LONG } from '../../../platform/schema/fields.ts';
import { type BookSettings, bookSettings } from '../../catalog/model-books/book-settings.ts';
import { getCustomer } from '../../customers/customers/queries.ts';
import { type BilledFacts, billedFigures, lastBilledDay, readBilledFacts, type TakenGroup } from './billed.ts';
import { csvOfMargins } from './csv.ts';
import {
  BOUNDS,
  type Bounds,
  type DynamicCharge,
  type MarginFacts,
  type MarginWindow,
  readMarginFacts,
  type StoredFilter,
} from './queries.ts';
import { type Figures, type GroupKey, readMargins, type SoldTerm, soldFigures } from './report.ts';
import { type CustomerMarginQuery, GROUPS, type Group, type MarginQuery } from './schema.ts';
import { figuresView, marginView } from './view.ts';

/** How many days a report spans, both ends included. */
const MOST_DAYS = 400;
const MOST_KEYS = 3;
/** How many rows a report has as a file. */
const MOST_EXPORTED = 100_000;
/** Groups in which fees that are for no calls can be shown. */
const GROUPS_OF_ALL_FEES: readonly string[] = ['customer', 'subscription', 'plan', 'day', 'week', 'month'];

/**
 * Cost, revenue and margin of calls of language models, by what was asked for; as CSV all rows.
 *
 * @throws Refusal 422 to, group_by, dimensions, include_all_fees; base: value_is_out_of_range, beyond two million sums
 *   of days or 200 000 fees, with the span that fits, and as CSV beyond 100 000 rows
 * Rule: margins.md#report.
 */
export async function showMargins(
  ctx: Context,
  { query, asCsv }: { query: MarginQuery; asCsv?: boolean },
  bounds = BOUNDS,
) {
  refuseSpan(query.from, query.to);
  const window: MarginWindow = { ...query, from: query.from.toString(), to: query.to.toString() };
  const { keys, settings, figures } = await (query.basis === 'billed' ? billed : sold)(ctx, window, { query, bounds });
  const page = asCsv ? { limit: MOST_EXPORTED + 1, offset: 0 } : limitOf(query);
  const { rows, totals, totalCount } = await readMargins(ctx, window, { keys, figures, order: query.order, ...page });
  if (asCsv) {
    if (totalCount > MOST_EXPORTED) throw refuse.invalid({ base: [OUT_OF_RANGE] });
    const lines = csvOfMargins(keys, rows, settings);
    return new Answer(null, { stream: lines, contentType: 'text/csv; charset=utf-8' });
  }
  return {
    margins: rows.map((row) => marginView(keys, row, settings)),
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
  { external_id, query, asCsv }: { external_id: string; query: CustomerMarginQuery; asCsv?: boolean },
) {
  const customer = await getCustomer(ctx, external_id);
  const { external_id: own } = customer;
  const group_by = ['model', 'day'];
  const of = { customer: own, subscription: undefined, plan: undefined, include_all_fees: undefined };
  return showMargins(ctx, { query: { ...query, ...of, group_by }, ...(asCsv ? { asCsv } : {}) });
}

function refuseSpan(from: Temporal.PlainDate, to: Temporal.PlainDate): void {
  const days = from.until(to, { largestUnit: 'days' }).days + 1;
  if (days < 1 || days > MOST_DAYS) throw refuse.invalid({ to: [OUT_OF_RANGE] });
}

interface Report {
  keys: GroupKey[];
  settings: BookSettings;
  figures: Figures;
}

interface Asked {
  query: MarginQuery;
  bounds: Bounds;
}

async function sold(ctx: Context, window: MarginWindow, { query, bounds }: Asked): Promise<Report> {
  const facts = await readMarginFacts(ctx, window, bounds);
  const settings = bookSettings(facts.ai_settings);
  const keys = keysOf(query, settings);
  if (facts.day_rows > bounds.dayRows) throw refuse.wideSpan(spanUpTo(window, facts.fitting_to));
  return { keys, settings, figures: soldFigures(ctx, window, { terms: termsOf(facts), bounds, keys }) };
}

async function billed(ctx: Context, window: MarginWindow, { query, bounds }: Asked): Promise<Report> {
  const others = query.include_all_fees === true;
  const facts = await readBilledFacts(ctx, window, { bounds, others });
  const settings = bookSettings(facts.ai_settings);
  const keys = keysOf(query, settings);
  if (facts.fees > bounds.fees || facts.other_fees > bounds.fees || facts.day_rows > bounds.dayRows)
    throw refuse.wideSpan(spanUpTo(window, await lastBilledDay(ctx, window, { bounds, facts, others })));
  const figures = billedFigures(ctx, window, {
    days: { first: facts.first_day, last: facts.last_day },
    taken: takenGroups(facts),
    currency: settings.currency,
    others,
    bounds,
  });
  return { keys, settings, figures };
}

/** The span of a report from its first day to a later one; null where that lies before it. */
const spanUpTo = ({ from }: MarginWindow, last: string | null) =>
  last === null || last < from ? null : { from, to: last };

/** What to group by, names of properties after those of groups. */
function keysOf(
  { group_by: names = [], dimensions: filtered = {}, basis, include_all_fees: isAll }: MarginQuery,
  { marginDimensions }: BookSettings,
): GroupKey[] {
  const errors: FieldErrors = {};
  const isKnown = (name: string) => isGroup(name) || marginDimensions.includes(name);
  if (new Set(names).size !== names.length || !names.every(isKnown)) errors.group_by = [INVALID];
  else if (names.length > MOST_KEYS) errors.group_by = [TOO_LONG];
  if (!Object.keys(filtered).every((name) => marginDimensions.includes(name))) errors.dimensions = [INVALID];
  if (isAll && (basis !== 'billed' || !names.every((name) => GROUPS_OF_ALL_FEES.includes(name))))
    errors.include_all_fees = [INVALID];
  if (Object.keys(errors).length > 0) throw refuse.invalid(errors);
  return names.map((name): GroupKey => (isGroup(name) ? { group: name } : { dimension: name }));
}

const isGroup = (name: string): name is Group => GROUPS.includes(name as Group);

/** Which part of amounts is sold under each plan: of each group where filters choose, else of all groups of a code. */
function termsOf({ groups, charges }: MarginFacts): SoldTerm[] {
  const byPlanAndCode = groupRows(charges, ({ plan_id, code }) => JSON.stringify([plan_id, code]));
  const sellers = new Map<string, ReturnType<typeof soldPart>>();
  const common: SoldTerm[] = [];
  for (const [key, own] of byPlanAndCode) {
    const part = soldPart(own.map(({ filters, ...charge }) => ({ ...charge, filters: filters.map(dated) })));
    const [{ plan_id, code }] = own as [DynamicCharge];
    if (own.some(({ filters }) => filters.length > 0)) sellers.set(key, part);
    else common.push({ plan_id, code, group_hash: null, part: part({}) });
  }
  const chosen = groups.map(({ plan_id, group_hash, code, texts }): SoldTerm => {
    const part = sellers.get(JSON.stringify([plan_id, code]))!;
    return { plan_id, code: null, group_hash, part: part(texts) };
  });
  return [...common, ...chosen];
}

/** Into which filter each group falls, of charges that have some. */
function takenGroups({ groups, charges }: BilledFacts): TakenGroup[] {
  const choosers = new Map(
    charges.map(({ charge_id, filters, declared }) => [charge_id, filterChooser(filters.map(dated), declared)]),
  );
  return groups.map(({ charge_id, group_hash, texts }) => {
    const filter = choosers.get(charge_id)!(texts);
    return { charge_id, group_hash, charge_filter_id: (filter?.id ?? null) as TakenGroup['charge_filter_id'] };
  });
}

const dated = <Filter extends StoredFilter>(filter: Filter) => ({
  ...filter,
  created_at: Temporal.Instant.from(filter.created_at),
});
