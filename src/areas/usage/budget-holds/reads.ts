import { roomOf } from '../../../engine/budgets/window-state.ts';
import { decimal, ZERO } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import { pageMeta } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';
import { ModelBooks, NO_BOOKS } from '../../catalog/model-books/model-books.ts';
import { listCatalogs } from '../../catalog/usage-shapes/queries.ts';
import { catalogOf } from '../../catalog/usage-shapes/storing-catalog.ts';
import { readSubscribers } from '../budget-windows/subscribers.ts';
import { listWindowFigures } from '../budgets/queries.ts';
import { decisionView, type HoldOutcome } from './answer-decision.ts';
import { modelOfEstimate } from './estimate.ts';
import { type Question, questionOf } from './prepare-decisions.ts';
import { findHold, listHolds } from './queries.ts';
import type { DecisionInput, DecisionView, HoldsQuery } from './schema.ts';
import { holdView } from './view.ts';

/** Holds, newest first. */
export async function listBudgetHolds(ctx: Context, { query }: { query: HoldsQuery }) {
  const { rows, total } = await listHolds(ctx, query.statuses, { now: ctx.now(), page: query });
  return { holds: rows.map(holdView), meta: pageMeta(query, total) };
}

/** @throws Refusal 404 budget_hold */
export async function showBudgetHold(ctx: Context, { svc_id }: { svc_id: string }) {
  const hold = await findHold(ctx, svc_id, ctx.now());
  if (!hold) throw refuse.notFound('budget_hold');
  return { hold: holdView(hold) };
}

/**
 * Advice: what a decision would answer now. Nothing is held and no lock is taken.
 *
 * @throws Refusal 422 estimate: value_is_mandatory
 * Rule: budgets.md#decisions "without hold_key".
 */
export async function adviseOnBudgets(
  ctx: Context,
  { body }: { body: DecisionInput },
): Promise<{ decision: DecisionView }> {
  const [row] = await listCatalogs(ctx.db, [ctx.organizationId]);
  const catalog = catalogOf(row!);
  const subscribers = await readSubscribers(ctx, [body.external_subscription_id], catalog.budgets);
  const books = body.estimate ? await new ModelBooks().of(ctx.db, [modelOfEstimate(body.estimate, catalog)]) : NO_BOOKS;
  const question = questionOf(body, { catalog, books, subscribers, now: ctx.now() });
  const windows = question.parts.map(({ window }) => window);
  const outcome = await outcomeNow(ctx, question, body.allow_partial === true);
  return {
    decision: decisionView({ outcome, windows, holdKey: null, settled: [], asOf: ctx.now().toString() }),
  };
}

async function outcomeNow(ctx: Context, { parts, reasons }: Question, isPartial: boolean): Promise<HoldOutcome> {
  const rows =
    parts.length === 0
      ? []
      : await listWindowFigures(
          ctx,
          parts.map(({ window }) => window.id),
          ctx.now(),
        );
  const known = new Map<string, (typeof rows)[number]>(rows.map((each) => [each.id, each]));
  const asked = parts.map(({ window, requested }) => {
    const stored = known.get(window.id);
    return {
      window,
      requested,
      figures: {
        limit: window.limit.plus(stored?.topped_up ?? ZERO),
        spent: stored?.spent ?? ZERO,
        held: stored?.held ?? ZERO,
      },
      decisionNo: stored?.decision_no ?? 0,
      isMissing: !stored && window.budget.is_full,
    };
  });
  const exceeded = asked.flatMap(({ window, requested, figures }, place) => {
    const room = roomOf(figures);
    const isRefused = decimal(requested).gt(room) && (!isPartial || room.lte(0));
    return window.budget.mode === 'hard' && isRefused ? [place] : [];
  });
  const all = [...reasons, ...(asked.some(({ isMissing }) => isMissing) ? ['too_many_windows'] : [])];
  const figures = asked.map(({ requested, figures: now, decisionNo }, place): HoldOutcome['figures'][number] => [
    place,
    requested,
    now.limit.toFixed(),
    now.spent.toFixed(),
    now.held.toFixed(),
    decisionNo,
  ]);
  if (all.length > 0) return { o: 'refused', reasons: all, exceeded: [], figures };
  if (exceeded.length > 0) return { o: 'refused', reasons: ['budget_exceeded'], exceeded, figures };
  return { o: 'allowed', replayed: false, figures };
}
