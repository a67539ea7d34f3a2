import { propertyText } from '../../../engine/metrics/property-text.ts';
import { type Decimal, decimal, decimalText, ZERO } from '../../../engine/money/decimal.ts';
import { own } from '../../../engine/own.ts';
import type { Context } from '../../../platform/context.ts';
import type { BookVersion } from '../../catalog/model-books/book-version.ts';
import { readModels } from '../../catalog/model-books/read-models.ts';
import type { EventAmendment } from '../../usage/event-corrections/lock-events.ts';
import { calledModel, rateProperties } from '../../usage/event-rating/rate-properties.ts';
import { canonicalText, parseProperties } from '../../usage/events/property-json.ts';
import type { CallToRate } from '../../usage/price-reratings/queries.ts';
import type { RerateFigures, RerateResult } from '../../usage/price-reratings/schema.ts';

/** Models of which a run shows the figures; those of further ones are in the sums of all. */
const MODELS_SHOWN = 1000;

/** Cost and amount of a call in cents; null: unknown. */
interface Figures {
  cost: string | null;
  amount: string | null;
}

interface RatedCall {
  /** As it was billed. */
  provider: string;
  model: string;
  isChanged: boolean;
  before: Figures;
  after: Figures;
}

export interface RatedPage {
  rated: RatedCall[];
  /** What calls become that are other ones now. */
  amendments: EventAmendment[];
}

/** Before any call was rated. */
export const NO_CALLS: RerateResult = {
  examined: 0,
  changed: 0,
  precise_cost_cents: { before: '0.0', after: '0.0' },
  precise_amount_cents: { before: '0.0', after: '0.0' },
  by_model: [],
};

/**
 * Rates calls by a book, at their own time. One whose amount a correction has brought stays. One with the same figures,
 * name, flags and status stays too, with the version of the book that it names.
 *
 * Rule: price-book.md#rating-again.
 */
export async function ratePage(ctx: Context, version: BookVersion, calls: readonly CallToRate[]): Promise<RatedPage> {
  const properties = calls.map((call) => parseProperties(call.properties));
  const asked = properties.map((each) => ({ book: version, ...calledModel(each) }));
  const books = calls.length === 0 ? [] : await readModels(ctx.db, asked);
  const page: RatedPage = { rated: [], amendments: [] };
  for (const [index, call] of calls.entries()) {
    const former = properties[index]!;
    const rated = rateProperties(former, {}, { book: books[index]!, version, at: call.timestamp });
    const before = { cost: costOf(former), amount: call.precise_total_amount_cents };
    const after = { cost: costOf(rated.properties), amount: rated.amountCents };
    const isChanged =
      !call.is_by_hand &&
      !(isEqual(before.amount, after.amount) && comparable(former) === comparable(rated.properties));
    const [provider, model] = [textOf(former, 'provider'), textOf(former, 'model')];
    page.rated.push({ provider, model, isChanged, before, after: isChanged ? after : before });
    if (!isChanged) continue;
    page.amendments.push({
      id: call.id,
      timestamp: call.timestamp,
      properties: canonicalText(rated.properties),
      precise_total_amount_cents: rated.amountCents,
      unpriced: rated.unpriced,
    });
  }
  return page;
}

/** The figures of a run with those of a further page. */
export function addPage(result: RerateResult, rated: readonly RatedCall[]): RerateResult {
  const byModel = new Map(result.by_model.map((each) => [JSON.stringify([each.provider, each.model]), each]));
  let all: RerateFigures = result;
  for (const call of rated) {
    const { provider, model } = call;
    const key = JSON.stringify([provider, model]);
    const known = byModel.get(key) ?? (byModel.size < MODELS_SHOWN ? { provider, model, ...NO_CALLS } : undefined);
    if (known) byModel.set(key, { provider, model, ...addCall(known, call) });
    all = addCall(all, call);
  }
  const by_model = [...byModel.values()].sort((a, b) => compare(a.provider, b.provider) || compare(a.model, b.model));
  return { ...all, by_model };
}

const addCall = (sums: RerateFigures, { isChanged, before, after }: RatedCall): RerateFigures => ({
  examined: sums.examined + 1,
  changed: sums.changed + (isChanged ? 1 : 0),
  precise_cost_cents: {
    before: added(sums.precise_cost_cents.before, before.cost),
    after: added(sums.precise_cost_cents.after, after.cost),
  },
  precise_amount_cents: {
    before: added(sums.precise_amount_cents.before, before.amount),
    after: added(sums.precise_amount_cents.after, after.amount),
  },
});

const added = (sum: string, cents: string | null): string => decimalText(decimal(sum).plus(orZero(cents)));
const orZero = (cents: string | null): Decimal => (cents === null ? ZERO : decimal(cents));
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const isEqual = (a: string | null, b: string | null): boolean =>
  a === null || b === null ? a === b : decimal(a).eq(decimal(b));

/** Properties without the versions of the book, which say by which prices, not which they are. */
const comparable = (properties: Readonly<Record<string, unknown>>): string => {
  const { ai_book: _, ...rest } = properties;
  return canonicalText(rest);
};

/** A cost that nobody wrote by hand. */
const costOf = (properties: Readonly<Record<string, unknown>>): string | null => {
  const text = textOf(properties, 'ai_cost_cents');
  return /^\d{1,40}(\.\d{1,40})?$/.test(text) ? text : null;
};

const textOf = (properties: Readonly<Record<string, unknown>>, name: string): string =>
  propertyText(own(properties, name)) ?? '';
