import { Temporal } from 'temporal-polyfill';
import type { Budget } from '../../../engine/budgets/budget.ts';
import { roomOf, stateOf } from '../../../engine/budgets/window-state.ts';
import { type Decimal, decimal, decimalText, max, min, ZERO } from '../../../engine/money/decimal.ts';
import { seconds, secondsOrNull } from '../../../platform/schema/view.ts';
import type { CalledOutcome, CalledWindow, OutcomeFigures } from '../budget-windows/decide-call.ts';
import type { PlacedWindow } from '../budget-windows/place-usage.ts';
import { groupView } from '../budgets/view.ts';
import type { DecidedBudget, DecisionView, SettledHold } from './schema.ts';

/** The outcome of a hold among those of a call. */
export type HoldOutcome = Extract<CalledOutcome, { o: 'allowed' | 'refused' }>;

interface Answered {
  outcome: HoldOutcome;
  /** Windows of the call. */
  windows: readonly CalledWindow[];
  holdKey: string | null;
  settled: SettledHold[];
  asOf: string;
}

/** The answer to a decision. Rule: budgets.md#decisions. */
export function decisionView({ outcome, windows, holdKey, settled, asOf }: Answered): DecisionView {
  const allowed = outcome.o === 'allowed';
  const exceeded = allowed ? [] : outcome.exceeded.map((place) => budgetOf(windows[place]!).code);
  const figures = outcome.figures.filter(([place]) => 'budget' in windows[place]!);
  const expiresAt = allowed && outcome.ends ? seconds(Temporal.Instant.from(outcome.ends)) : null;
  return {
    allowed,
    reasons: allowed ? [] : outcome.reasons,
    exceeded: [...new Set(exceeded)],
    svc_hold_id: outcome.id ?? null,
    hold_key: holdKey,
    expires_at: expiresAt,
    budgets: figures.map((each) => budgetView(windows[each[0]] as PlacedWindow, each)),
    settled,
    outage: outageOf(figures.map(([place]) => budgetOf(windows[place]!))),
    as_of: seconds(Temporal.Instant.from(asOf)),
  };
}

const budgetOf = (window: CalledWindow): Budget => (window as PlacedWindow).budget;

function budgetView({ budget, group, from, to }: PlacedWindow, figures: OutcomeFigures): DecidedBudget {
  const [, requested, limit, spent, held, decisionNo] = figures;
  const now = { limit: decimal(limit), spent: decimal(spent), held: decimal(held) };
  return {
    code: budget.code,
    group: groupView(budget, group),
    measure: budget.measure,
    currency: budget.currency,
    from: seconds(from),
    to: secondsOrNull(to),
    limit: decimalText(now.limit),
    spent: decimalText(now.spent),
    held: decimalText(now.held),
    requested: decimalText(decimal(requested)),
    remaining: decimalText(max(ZERO, roomOf(now))),
    state: stateOf(budget.mode, now),
    decision_no: decisionNo,
  };
}

/** What clients do without an answer: the strictest of the budgets that were asked. */
function outageOf(budgets: readonly Budget[]): DecisionView['outage'] {
  const isOpen = budgets.length > 0 && budgets.every(({ on_outage }) => on_outage === 'open');
  const allowances = budgets.map(({ offline_allowance }) => offline_allowance);
  const allowance = isOpen ? allowances.reduce<Decimal>(min, allowances[0]!) : ZERO;
  return { mode: isOpen ? 'open' : 'closed', allowance: decimalText(allowance) };
}

/** An event that settles a hold. */
interface SettlingEvent {
  /** Of a call whose parts are events: its own. */
  transactionId: string;
  isReplayed: boolean;
}

/** The outcome of a settlement as it is shown. */
export function settledView(holdKey: string, outcome: CalledOutcome, event: SettlingEvent | undefined): SettledHold {
  const shown = event ? { event: { transaction_id: event.transactionId, replayed: event.isReplayed } } : {};
  const nothing = { hold_key: holdKey, late: false, overrun: '0.0' };
  if (outcome.o === 'settled')
    return {
      hold_key: holdKey,
      status: 'settled',
      late: outcome.late,
      overrun: decimalText(decimal(outcome.overrun)),
      ...shown,
    };
  if (outcome.o === 'repeated') return { ...nothing, status: 'settled', ...shown };
  const code = outcome.o === 'unknown' ? 'value_is_invalid' : 'hold_not_open';
  return { ...nothing, status: outcome.o === 'unknown' ? null : 'settled', error_details: { hold_key: [code] } };
}
