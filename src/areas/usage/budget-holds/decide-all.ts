import type { Temporal } from 'temporal-polyfill';
import { assert } from '../../../engine/assert.ts';
import type { Config } from '../../../platform/config.ts';
import type { Db } from '../../../platform/db/connect.ts';
import { Refusal, refuse } from '../../../platform/refusal.ts';
import { type Books, type ModelBooks, NO_BOOKS } from '../../catalog/model-books/model-books.ts';
import type { Catalog } from '../../catalog/usage-shapes/storing-catalog.ts';
import {
  type CalledStep,
  type CalledWindow,
  type Decided,
  decideBudgets,
  Outdated,
  sortedWindows,
} from '../budget-windows/decide-call.ts';
import { readSubscribers, type Subscribers } from '../budget-windows/subscribers.ts';
import type { IncomingBatch, Verdict } from '../events/incoming-event.ts';
import { modelsToRate } from '../events/storage/prepare-event.ts';
import type { StoreOutcome } from '../events/storage/store-batches.ts';
import { decisionView, type HoldOutcome } from './answer-decision.ts';
import type { AskedDecision, Door } from './asked-decision.ts';
import { modelOfEstimate } from './estimate.ts';
import { holdStep, questionOf, refuseTooLong, windowsOfHold } from './prepare-decisions.ts';
import { listNamedHolds } from './queries.ts';
import type { DecisionView } from './schema.ts';
import {
  addSettlement,
  faultOf,
  holdNamed,
  readSettling,
  refuseLoneEvents,
  type Settling,
  settledOf,
  storeSettling,
} from './settlements.ts';
import type { Sender } from './settling-events.ts';

/** What decisions of one organization are made with. */
export interface Decider {
  db: Db;
  config: Config;
  sender: Sender;
  catalog: Catalog;
  /** Prices of models that the process keeps. */
  books: ModelBooks;
  /** Present of the organization. */
  now: Temporal.Instant;
  /** The same in ISO text, if it has a test clock. */
  present: string | null;
  /** Real time, ISO text. */
  realNow: string;
  /** Whether events are refused, because one of them holds a value that Postgres refuses. */
  refusesEvents?: boolean;
}

/** `verdicts` on the events of each settlement answer the door that usage came to. */
export type DecisionAnswer =
  | { decision: DecisionView; isReplayed: boolean }
  | { verdicts: Verdict[][] }
  | { refusal: Refusal };

export interface AllDecided {
  answers: DecisionAnswer[];
  /** Events that were stored with settlements, and what follows from them. */
  stored: { batches: IncomingBatch[]; outcome: StoreOutcome } | null;
  step: string | null;
}

interface Deciding {
  asked: AskedDecision;
  settling: Settling[];
  refusal?: Refusal;
  step?: number;
}

/**
 * Decides in the order given: of each decision first what it settles, then what it holds. Events that settle are stored
 * first, in the same transaction.
 *
 * @throws Outdated when it is to be prepared again, in a new transaction
 * @throws Refusal 405 test_clock_advancing; 422 of usage that is stored as a whole, by its places
 * Rule: budgets.md#decisions.
 */
export async function decideAll(decider: Decider, asked: readonly AskedDecision[]): Promise<AllDecided> {
  const { db, sender, catalog } = decider;
  const scope = { db, organizationId: sender.organizationId };
  const [rows, known] = await Promise.all([
    listNamedHolds(scope, namesOf(asked), decider.now),
    readSubscribers(scope, subscriptionsOf(asked), catalog.budgets),
  ]);
  const deciding = asked.map(
    (each): Deciding => ({
      asked: each,
      settling: (each.settle ?? []).map((settlement) => ({ settlement, hold: holdNamed(settlement, rows) })),
    }),
  );
  const settling = deciding.flatMap((each) => each.settling);
  for (const each of deciding) await readSettling(decider, each.asked, each.settling);
  const books = await booksOf(decider, asked, settling);
  const outcome = await storeSettling(decider, settling, books);
  const subscribers = await withSubscribersOf(decider, { known, asked, settling });

  const windows: CalledWindow[] = rows.flatMap((row) => windowsOfHold(row, catalog.budgets));
  const steps: CalledStep[] = [];
  for (const each of deciding) {
    for (const settlement of each.settling) addSettlement(decider, settlement, { subscribers, books, windows, steps });
    addQuestion(decider, { each, subscribers, books, windows, steps });
  }
  const sorted = sortedWindows(windows);
  const decided =
    steps.length === 0
      ? { now: decider.now.toString(), outcomes: [], windows: [], step: null }
      : await decideBudgets(scope, { version: catalog.version, windows: sorted, steps });
  if (!decided) throw new Outdated('what storing looks at has changed');
  refuseLoneEvents(settling, decided);
  const batches = settling.flatMap(({ batch }) => batch ?? []);
  return {
    answers: deciding.map((each) => answerOf(each, decided, sorted)),
    stored: outcome && { batches, outcome },
    step: decided.step,
  };
}

/** Prices of the models of calls that settle, and of estimates. */
function booksOf(
  { db, catalog, books }: Decider,
  asked: readonly AskedDecision[],
  settling: readonly Settling[],
): Books | Promise<Books> {
  const models = [
    ...settling.flatMap(({ batch }) => (batch ? modelsToRate(batch, catalog) : [])),
    ...asked.flatMap(({ estimate }) => (estimate ? [modelOfEstimate(estimate, catalog)] : [])),
  ];
  return models.length === 0 ? NO_BOOKS : books.of(db, models);
}

function namesOf(asked: readonly AskedDecision[]): { keys: string[]; ids: string[] } {
  const settle = asked.flatMap((each) => each.settle ?? []);
  const keys = settle.flatMap(({ hold_key }) => hold_key ?? []);
  const ids = settle.flatMap(({ svc_hold_id }) => svc_hold_id ?? []);
  return { keys: [...new Set([...keys, ...asked.flatMap(({ hold_key }) => hold_key ?? [])])], ids: [...new Set(ids)] };
}

const subscriptionsOf = (asked: readonly AskedDecision[]): string[] =>
  asked.flatMap(({ hold_key, external_subscription_id: id }) => (hold_key === null ? [] : [id]));

/** Events are counted for the subscription of the hold that they settle, which may be another than a question's. */
async function withSubscribersOf(
  { db, sender, catalog }: Decider,
  { known, asked, settling }: { known: Subscribers; asked: readonly AskedDecision[]; settling: readonly Settling[] },
): Promise<Subscribers> {
  const read = new Set(subscriptionsOf(asked));
  const wanted = settling.flatMap(({ hold, call }) => (hold && call ? [hold.external_subscription_id] : []));
  if (wanted.every((id) => read.has(id))) return known;
  const scope = { db, organizationId: sender.organizationId };
  return readSubscribers(scope, [...read, ...wanted], catalog.budgets);
}

interface Asking {
  each: Deciding;
  subscribers: Subscribers;
  books: Books;
  windows: CalledWindow[];
  steps: CalledStep[];
}

function addQuestion(decider: Decider, { each, subscribers, books, windows, steps }: Asking): void {
  const { asked } = each;
  if (asked.hold_key === null) return;
  try {
    refuseTooLong(decider, asked.expires_in_seconds);
    const question = questionOf(asked, { catalog: decider.catalog, books, subscribers, now: decider.now });
    windows.push(...question.parts.map(({ window }) => window));
    each.step = steps.length;
    steps.push(holdStep(asked, asked.hold_key, question));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    each.refusal = error;
  }
}

function answerOf(each: Deciding, decided: Decided, windows: readonly CalledWindow[]): DecisionAnswer {
  const { asked, settling, refusal, step } = each;
  if (refusal) return { refusal };
  if (asked.door) return answerOfDoor(asked.door, settling, decided);
  const settled = settling.map((settlement) => settledOf(settlement, decided));
  const shown = { windows, holdKey: asked.hold_key, settled, asOf: decided.now };
  if (step === undefined) return { decision: decisionView({ ...shown, outcome: NOTHING_ASKED }), isReplayed: false };
  const outcome = decided.outcomes[step]!;
  if (outcome.o === 'conflict') return { refusal: refuse.invalid({ hold_key: ['value_already_exist'] }) };
  assert(outcome.o === 'allowed' || outcome.o === 'refused', 'a question is allowed or refused');
  return { decision: decisionView({ ...shown, outcome }), isReplayed: outcome.replayed === true };
}

/** @throws Refusal 422 by place, where all calls are stored or none and one of them is refused */
function answerOfDoor({ isAtomic }: Door, settling: readonly Settling[], decided: Decided): DecisionAnswer {
  const faults = settling.map((each) => faultOf(each, decided));
  const wrong = Object.fromEntries(faults.flatMap((fault, place) => (fault ? [[place, fault]] : [])));
  if (isAtomic && Object.keys(wrong).length > 0) throw refuse.invalid(wrong);
  return {
    verdicts: settling.map(({ verdicts = [] }, place): Verdict[] => {
      const error_details = faults[place];
      return error_details ? [{ e: { status: 422, body: { error_details } } }] : verdicts;
    }),
  };
}

/** A decision that only settles. */
const NOTHING_ASKED: HoldOutcome = { o: 'allowed', replayed: false, figures: [] };
