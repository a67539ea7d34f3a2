import { type Decimal, max, min, ZERO } from '../money/decimal.ts';
import type { Measure } from './budget.ts';
import { overrunOf, roomOf, type WindowFigures } from './window-state.ts';

/** A window while steps are decided; windows, holds and parts point to each other by position. */
export interface DecidedWindow extends WindowFigures {
  /** Whether it refuses. */
  isHard: boolean;
  /** Counts the decisions that looked at it. */
  decisionNo: number;
}

export interface HoldPart {
  window: number;
  held: Decimal;
  /** Null until it is settled. */
  settled: Decimal | null;
  isOpen: boolean;
}

/** A hold as it is stored; the status `open` with a past end is `expired`. */
export interface DecidedHold {
  status: 'open' | 'settled' | 'released' | 'expired';
  expiresAtMs: number;
  questionDigest: string;
  settlementDigest: string | null;
  parts: HoldPart[];
}

export interface BudgetBook {
  windows: DecidedWindow[];
  /** By position; undefined: there is none yet. */
  holds: (DecidedHold | undefined)[];
  nowMs: number;
}

/** What a settlement counts in a window; null: what was held there. */
export interface SettledPart {
  window: number;
  amount: Decimal | null;
}

export interface AskedPart {
  window: number;
  measure: Measure;
  requested: Decimal;
}

/**
 * settle  closes a hold by what was used
 * release gives a hold back
 * change  prolongs a hold, or gives its parts other figures
 * hold    asks, and holds when there is room; `reasons` were found before and refuse
 */
export type BudgetStep =
  | { step: 'settle'; hold: number; digest: string; counts: readonly SettledPart[] }
  | { step: 'release'; hold: number }
  | { step: 'change'; hold: number; lifeMs: number | null; parts: readonly { window: number; held: Decimal }[] | null }
  | {
      step: 'hold';
      hold: number;
      digest: string;
      lifeMs: number;
      parts: readonly AskedPart[];
      isPartial: boolean;
      reasons: readonly string[];
    };

export type StepOutcome =
  | { outcome: 'settled'; isLate: boolean; overrun: Decimal }
  | { outcome: 'repeated' | 'unknown' | 'closed' | 'released' | 'changed' | 'conflict' }
  | { outcome: 'full'; exceeded: number[] }
  | { outcome: 'allowed'; isReplayed: boolean; held: Decimal[] }
  | { outcome: 'refused'; reasons: string[]; exceeded: number[] };

/**
 * Decides steps in their order on a book, which it changes. The database function `decide_budgets` does the same under
 * the locks of the windows; a property test compares them.
 *
 * Rule: budgets.md#decisions, budgets.md#holds.
 */
export function decide(book: BudgetBook, steps: readonly BudgetStep[]): StepOutcome[] {
  expireParts(book);
  return steps.map((step) => {
    if (step.step === 'settle') return settle(book, step);
    if (step.step === 'release') return release(book, step);
    if (step.step === 'change') return change(book, step);
    return hold(book, step);
  });
}

type Step<Name extends BudgetStep['step']> = Extract<BudgetStep, { step: Name }>;

function expireParts(book: BudgetBook): void {
  for (const each of book.holds) {
    if (each?.status !== 'open' || each.expiresAtMs > book.nowMs) continue;
    freeParts(book, each);
    each.status = 'expired';
  }
}

function freeParts(book: BudgetBook, { parts }: DecidedHold): void {
  for (const part of parts) {
    if (!part.isOpen) continue;
    part.isOpen = false;
    const window = book.windows[part.window]!;
    window.held = window.held.minus(part.held);
  }
}

function settle(book: BudgetBook, { hold: position, digest, counts }: Step<'settle'>): StepOutcome {
  const found = book.holds[position];
  if (!found) return { outcome: 'unknown' };
  if (found.status === 'settled') return { outcome: found.settlementDigest === digest ? 'repeated' : 'closed' };
  const isLate = found.status !== 'open';
  freeParts(book, found);
  let overrun: Decimal = ZERO;
  for (const { window: place, amount } of counts) {
    const window = book.windows[place]!;
    const part = found.parts.find((each) => each.window === place);
    const actual = amount ?? part?.held ?? ZERO;
    window.spent = window.spent.plus(actual);
    if (part) part.settled = actual;
    overrun = max(overrun, min(max(actual, ZERO), overrunOf(window)));
  }
  found.status = 'settled';
  found.settlementDigest = digest;
  return { outcome: 'settled', isLate, overrun };
}

function release(book: BudgetBook, { hold: position }: Step<'release'>): StepOutcome {
  const found = book.holds[position];
  if (!found) return { outcome: 'unknown' };
  if (found.status !== 'open') return { outcome: 'closed' };
  freeParts(book, found);
  found.status = 'released';
  return { outcome: 'released' };
}

function change(book: BudgetBook, { hold: position, lifeMs, parts }: Step<'change'>): StepOutcome {
  const found = book.holds[position];
  if (!found) return { outcome: 'unknown' };
  if (found.status !== 'open') return { outcome: 'closed' };
  const wanted = found.parts.map((part) => ({ part, to: parts?.find(({ window }) => window === part.window)?.held }));
  const exceeded = wanted.flatMap(({ part, to }) => {
    const more = to?.minus(part.held) ?? ZERO;
    const window = book.windows[part.window]!;
    return window.isHard && more.gt(0) && more.gt(roomOf(window)) ? [part.window] : [];
  });
  if (exceeded.length > 0) return { outcome: 'full', exceeded };
  for (const { part, to } of wanted) {
    if (!to) continue;
    const window = book.windows[part.window]!;
    window.held = window.held.plus(to).minus(part.held);
    part.held = to;
  }
  if (lifeMs !== null) found.expiresAtMs = book.nowMs + lifeMs;
  return { outcome: 'changed' };
}

function hold(book: BudgetBook, step: Step<'hold'>): StepOutcome {
  const known = book.holds[step.hold];
  if (known) return again(known, step);
  for (const { window } of step.parts) book.windows[window]!.decisionNo += 1;
  if (step.reasons.length > 0) return { outcome: 'refused', reasons: [...step.reasons], exceeded: [] };
  const held = step.parts.map((part) => (step.isPartial ? partOf(book, step.parts, part) : part.requested));
  const exceeded = step.parts.flatMap(({ window: place, requested }) => {
    const window = book.windows[place]!;
    const room = roomOf(window);
    const isRefused = requested.gt(room) && (!step.isPartial || room.lte(0));
    return window.isHard && isRefused ? [place] : [];
  });
  if (exceeded.length > 0) return { outcome: 'refused', reasons: ['budget_exceeded'], exceeded };
  for (const [index, { window: place }] of step.parts.entries()) {
    const window = book.windows[place]!;
    window.held = window.held.plus(held[index]!);
  }
  book.holds[step.hold] = {
    status: 'open',
    expiresAtMs: book.nowMs + step.lifeMs,
    questionDigest: step.digest,
    settlementDigest: null,
    parts: step.parts.map(({ window }, index) => ({ window, held: held[index]!, settled: null, isOpen: true })),
  };
  return { outcome: 'allowed', isReplayed: false, held };
}

/** The answer about a key that has a hold. */
function again({ questionDigest, status, parts }: DecidedHold, { digest }: Step<'hold'>): StepOutcome {
  if (questionDigest !== digest) return { outcome: 'conflict' };
  if (status !== 'open') return { outcome: 'refused', reasons: ['hold_closed'], exceeded: [] };
  return { outcome: 'allowed', isReplayed: true, held: parts.map((part) => part.held) };
}

/** What is there for a part: windows of one measure hold the same, as much as the fullest hard one has. */
function partOf(book: BudgetBook, parts: readonly AskedPart[], { measure, requested }: AskedPart): Decimal {
  const rooms = parts.flatMap((part) => {
    const window = book.windows[part.window]!;
    return part.measure === measure && window.isHard ? [roomOf(window)] : [];
  });
  return rooms.reduce<Decimal>(min, requested);
}
