import { Temporal } from 'temporal-polyfill';
import { type Budget, isMoney, type Measure } from '../../../engine/budgets/budget.ts';
import { limitOf, type Usage } from '../../../engine/budgets/match-budget.ts';
import { canonicalDigest } from '../../../platform/canonical-json.ts';
import type { Config } from '../../../platform/config.ts';
import { newId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import type { Books } from '../../catalog/model-books/model-books.ts';
import type { Catalog } from '../../catalog/usage-shapes/storing-catalog.ts';
import type { CalledStep, CalledWindow, SettledEntry } from '../budget-windows/decide-call.ts';
import { MOST_MATCHING, matching, type PlacedWindow, placeUsage } from '../budget-windows/place-usage.ts';
import type { Subscribers } from '../budget-windows/subscribers.ts';
import { groupKey } from '../budget-windows/window-id.ts';
import { isoOfMs } from '../events/timestamps.ts';
import type { AskedDecision, AskedQuestion, AskedSettlement } from './asked-decision.ts';
import { estimatedFigures } from './estimate.ts';
import type { HoldRow } from './queries.ts';

/** What decisions are prepared with. */
export interface Facts {
  catalog: Catalog;
  /** Of the models of estimates. */
  books: Books;
  subscribers: Subscribers;
  holds: ReadonlyMap<string, HoldRow>;
  now: Temporal.Instant;
}

/** What a decision asks: the windows that it needs room in, or why it is refused before any window is looked at. */
export interface Question {
  parts: { window: PlacedWindow; requested: string }[];
  reasons: string[];
}

/**
 * The windows of a question, each with the figure of its measure.
 *
 * @throws Refusal 422 estimate: value_is_mandatory, when a matching measure has no figure
 * Rule: budgets.md#decisions "what is asked".
 */
export function questionOf(
  asked: AskedQuestion,
  { catalog, books, subscribers, now }: Pick<Facts, 'catalog' | 'books' | 'subscribers' | 'now'>,
): Question {
  const subscriber = subscribers.of(asked.external_subscription_id);
  if (!subscriber?.is_active) return { parts: [], reasons: ['subscription_not_found'] };
  const usage: Usage = {
    customer_id: subscriber.customer_id,
    external_subscription_id: asked.external_subscription_id,
    code: asked.code,
    properties: asked.properties ?? {},
  };
  const budgets = matching(catalog.budgets, usage);
  if (budgets.length > MOST_MATCHING) return { parts: [], reasons: ['too_many_budgets'] };
  const { estimate } = asked;
  const estimated = estimate ? estimatedFigures(estimate, { catalog, books, at: isoOfMs(now.epochMilliseconds) }) : {};
  const reasons = new Set<string>();
  const parts = budgets.flatMap((budget) => {
    const figure = figureOf(asked, budget.measure) ?? estimated[budget.measure];
    if (figure === undefined) throw refuse.invalid({ estimate: ['value_is_mandatory'] });
    // Without a price nothing can be held; a budget that does not mind is asked for nothing.
    if (figure === null && budget.unknown_price === 'deny') reasons.add('price_unknown');
    const requested = figure ?? '0';
    const window = placeUsage(budget, usage, { at: now, billingPeriods: subscribers.billingPeriods });
    return window ? [{ window, requested }] : [];
  });
  return { parts, reasons: [...reasons] };
}

const figureOf = ({ amount, units, tokens }: AskedQuestion, measure: Measure): string | undefined =>
  (isMoney(measure) ? amount : measure === 'units' ? units : tokens) ?? undefined;

/** The step that holds what is asked. */
export const holdStep = (asked: AskedDecision, holdKey: string, { parts, reasons }: Question): CalledStep => ({
  s: 'hold',
  hold: holdKey,
  id: newId(),
  digest: questionDigest(asked),
  externalSubscriptionId: asked.external_subscription_id,
  seconds: asked.expires_in_seconds,
  parts: parts.map(({ window, requested }) => [window.id, requested, window.budget.measure]),
  isPartial: asked.allow_partial === true,
  reasons,
});

/** Two questions under one key are the same when all but what they settle is. */
const questionDigest = ({ settle: _, sender: __, door: ___, ...question }: AskedDecision): string =>
  canonicalDigest(question).toString('hex');

/** Two settlements of a hold are the same when their event, call or amount is. */
export function settlementDigest({ event, amount, usage }: AskedSettlement): string {
  const events = usage && 'call' in usage ? usage.call.events : [];
  const said = usage ? { usage: events.map(({ transaction_id, digest }) => [transaction_id, digest]) } : { amount };
  return canonicalDigest(event ?? said).toString('hex');
}

/** The windows of a hold as a call needs them; those of deleted budgets by their id alone. */
export const windowsOfHold = (hold: HoldRow | undefined, budgets: readonly Budget[]): CalledWindow[] =>
  (hold?.windows ?? []).map((window) => {
    const budget = budgets.find(({ id }) => id === window.budget_id);
    if (!budget) return { id: window.id };
    const { group_values: group } = window;
    const from = Temporal.Instant.from(window.starts_at);
    const to = window.ends_at === null ? null : Temporal.Instant.from(window.ends_at);
    return { id: window.id, budget, groupKey: groupKey(group), group, limit: limitOf(budget, group), from, to };
  });

/** What a settlement by an amount counts: it in windows of money, elsewhere what was held. Rule: budgets.md#holds. */
export const entriesOfAmount = (windows: readonly CalledWindow[], amount: string): SettledEntry[] =>
  windows.flatMap((window): SettledEntry[] =>
    'budget' in window ? [[window.id, isMoney(window.budget.measure) ? amount : null, 'settlement']] : [],
  );

/** @throws Refusal 422 expires_in_seconds: value_is_out_of_range, beyond the longest life of a hold */
export function refuseTooLong({ config }: { config: Config }, seconds: number | undefined): void {
  if (seconds !== undefined && seconds > config.BUDGET_HOLD_MAX_SECONDS)
    throw refuse.invalid({ expires_in_seconds: ['value_is_out_of_range'] });
}
