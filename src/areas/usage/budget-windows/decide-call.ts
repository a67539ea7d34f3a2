import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import { type ExternalSubscriptionId, newId } from '../../../platform/ids.ts';
import type { PlacedWindow } from './place-usage.ts';

/** A window of a call: one of a live budget, or that of a deleted one, in which nothing stays held. */
export type CalledWindow = PlacedWindow | { id: string };

/** An entry of a settlement: a window, what counts there (null: what was held), and where it comes from. */
export type SettledEntry = [windowId: string, amount: string | null, source: 'settlement' | 'provisional'];

/** A step of a call; see BudgetStep of the engine. Windows are named by id, holds by key. */
export type CalledStep =
  | {
      s: 'settle';
      hold: string;
      /** Id of the hold that it was prepared for; null: none was there. */
      id: string | null;
      digest: string;
      entries: SettledEntry[];
      /** Transaction id of an event that is stored with it, and how many events the entries count. */
      transactionId: string | null;
      events: number;
    }
  | { s: 'release'; hold: string }
  | { s: 'change'; hold: string; seconds: number | null; parts: [windowId: string, held: string][] }
  | { s: 'reset'; window: string }
  | {
      s: 'hold';
      hold: string;
      id: string;
      digest: string;
      externalSubscriptionId: ExternalSubscriptionId;
      seconds: number;
      parts: [windowId: string, requested: string, measure: string][];
      isPartial: boolean;
      reasons: string[];
    };

/** Figures of a window in the outcome of a hold, its position among the windows of the call first. */
export type OutcomeFigures = [
  window: number,
  figure: string,
  limit: string,
  spent: string,
  held: string,
  decisionNo: number,
];

export type CalledOutcome =
  | { o: 'settled'; late: boolean; overrun: string }
  | { o: 'repeated' | 'unknown' | 'closed' | 'released' | 'changed' | 'conflict' | 'reset' }
  | { o: 'full'; exceeded: number[] }
  | { o: 'allowed'; replayed: boolean; figures: OutcomeFigures[]; id?: string; ends?: string }
  | {
      o: 'refused';
      reasons: string[];
      exceeded: number[];
      figures: OutcomeFigures[];
      replayed?: true;
      id?: string;
    };

export interface Decided {
  now: string;
  outcomes: CalledOutcome[];
  /** In the order of the ids: whether it is there, limit, spent, held, state, number of decisions. */
  windows: [there: boolean, limit: string, spent: string, held: string, state: string, decisionNo: number][];
  /** Step that announces what has changed, to be nudged after the commit. */
  step: string | null;
}

/** The windows, holds and steps of one call of `decide_budgets`. */
export interface DecideCall {
  version: number;
  windows: readonly CalledWindow[];
  steps: readonly CalledStep[];
}

/** What a call was prepared with has changed: it is prepared again, in a new transaction. */
export class Outdated extends Error {}

/** Error of the database: a hold was made or found meanwhile. */
const CHANGED = 'BU001';
/** A hold key or a window was made by another transaction at the same time; a deadlock. */
const COLLIDED = ['23505', '40P01'];

/** Whether a call that failed is to be prepared again, in a new transaction. */
export const isOutdated = (error: unknown): boolean => {
  const { code } = (error ?? {}) as { code?: string };
  return error instanceof Outdated || code === CHANGED || COLLIDED.includes(code ?? '');
};

/** Windows of a call in the order in which they are locked, each once. */
export function sortedWindows(windows: readonly CalledWindow[]): CalledWindow[] {
  const byId = new Map<string, CalledWindow>();
  // A window of a live budget says more than its id alone.
  for (const window of windows) if ('budget' in window || !byId.has(window.id)) byId.set(window.id, window);
  return [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/**
 * Decides steps in their order: one round trip, under the locks of the windows. Undefined when storing looks at another
 * version by now, and nothing was done.
 *
 * call.windows  as sortedWindows gives them; they hold every window that the steps and their holds name
 *
 * Rule: budgets.md#decisions.
 */
export async function decideBudgets(
  { db, organizationId }: Scope,
  { version, windows, steps }: DecideCall,
): Promise<Decided | undefined> {
  const placeOf = new Map(windows.map(({ id }, index) => [id, index]));
  const holds = [...new Set(steps.flatMap((step) => ('hold' in step ? [step.hold] : [])))];
  const holdPlace = new Map(holds.map((key, index) => [key, index]));
  const stepRows = steps.map((step) => packed(step, placeOf, holdPlace));
  const [row] = await db<{ decided: Decided | { stale: true } }[]>`
    select decide_budgets(${organizationId}, ${version}, ${json(windows.map(packedWindow))}::jsonb,
      ${json(holds)}::jsonb, ${json(stepRows)}::jsonb) as decided`;
  const { decided } = row!;
  return 'stale' in decided ? undefined : decided;
}

const packedWindow = (window: CalledWindow): object =>
  'budget' in window
    ? {
        id: window.id,
        b: window.budget.id,
        k: window.groupKey,
        g: window.group,
        s: window.from.toString(),
        e: window.to?.toString() ?? null,
        l: window.limit.toFixed(),
        h: window.budget.mode === 'hard',
        p: window.budget.alert_percents,
        m: !window.budget.is_full,
      }
    : { id: window.id, b: null, e: null, l: '0', h: false, p: [], m: false };

function packed(step: CalledStep, placeOf: ReadonlyMap<string, number>, holdPlace: ReadonlyMap<string, number>) {
  const place = (id: string): number => placeOf.get(id)!;
  if (step.s === 'reset') return { s: step.s, w: place(step.window), id: newId() };
  const h = holdPlace.get(step.hold)!;
  switch (step.s) {
    case 'release':
      return { s: step.s, h };
    case 'change':
      return { s: step.s, h, x: step.seconds, p: step.parts.map(([id, held]) => [place(id), held]) };
    case 'settle':
      return {
        s: step.s,
        h,
        i: step.id,
        d: step.digest,
        t: step.transactionId,
        n: step.events,
        e: step.entries.map(([id, amount, source]) => [place(id), amount, source, newId()]),
      };
    case 'hold':
      return {
        s: step.s,
        h,
        id: step.id,
        d: step.digest,
        u: step.externalSubscriptionId,
        x: step.seconds,
        p: step.parts.map(([id, requested, measure]) => [place(id), requested, measure]),
        a: step.isPartial,
        no: step.reasons,
      };
  }
}
