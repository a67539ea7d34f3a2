import type { Temporal } from 'temporal-polyfill';
import { assert } from '../../../engine/assert.ts';
import type { Config } from '../../../platform/config.ts';
import type { Db } from '../../../platform/db/connect.ts';
import { type FieldErrors, Refusal, refuse } from '../../../platform/refusal.ts';
import { type Books, ModelBooks, NO_BOOKS } from '../../catalog/model-books/model-books.ts';
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
import { errorsOf } from '../events/answer-text.ts';
import type { IncomingBatch } from '../events/incoming-event.ts';
import { unstorable } from '../events/storage/data-errors.ts';
import { modelsToRate } from '../events/storage/prepare-event.ts';
import { type StoreOutcome, storeBatches } from '../events/storage/store-batches.ts';
import { decisionView, type HoldOutcome, settledView } from './answer-decision.ts';
import {
  entriesOfAmount,
  holdStep,
  questionOf,
  refuseTooLong,
  settlementDigest,
  windowsOfHold,
} from './prepare-decisions.ts';
import { type HoldRow, listHoldsByKey } from './queries.ts';
import type { DecisionInput, DecisionView, SettledHold, Settlement } from './schema.ts';
import { entriesOfEvent, readSettlingEvent, type Sender, type StoredEvent, storedOf } from './settling-events.ts';

/** What decisions of one organization are made with. */
export interface Decider {
  db: Db;
  config: Config;
  sender: Sender;
  catalog: Catalog;
  /** Present of the organization. */
  now: Temporal.Instant;
  /** The same in ISO text, if it has a test clock. */
  present: string | null;
  /** Real time, ISO text. */
  realNow: string;
  /** Whether events are refused, because one of them holds a value that Postgres refuses. */
  refusesEvents?: boolean;
}

export type DecisionAnswer = { decision: DecisionView; isReplayed: boolean } | { refusal: Refusal };

export interface AllDecided {
  answers: DecisionAnswer[];
  /** Events that were stored with settlements, and what follows from them. */
  stored: { batches: IncomingBatch[]; outcome: StoreOutcome } | null;
  step: string | null;
}

/** A settlement on its way: what it was prepared for, and where its step is. */
interface Settling {
  settlement: Settlement;
  hold: HoldRow | undefined;
  event?: StoredEvent;
  errors?: FieldErrors;
  /** Position of its step; without one nothing is asked of the database. */
  step?: number;
}

interface Deciding {
  asked: DecisionInput;
  settling: Settling[];
  refusal?: Refusal;
  step?: number;
}

/**
 * Decides in the order given: of each decision first what it settles, then what it holds. Events that settle are stored
 * first, in the same transaction.
 *
 * @throws Outdated when it is to be prepared again, in a new transaction
 * @throws Refusal 405 test_clock_advancing
 * Rule: budgets.md#decisions.
 */
export async function decideAll(decider: Decider, asked: readonly DecisionInput[]): Promise<AllDecided> {
  const { db, sender, catalog } = decider;
  const scope = { db, organizationId: sender.organizationId };
  const keys = [...new Set(asked.flatMap(({ settle }) => (settle ?? []).map(({ hold_key }) => hold_key)))];
  const [rows, subscribers] = await Promise.all([
    listHoldsByKey(scope, [...keys, ...asked.flatMap(({ hold_key }) => hold_key ?? [])], decider.now),
    readSubscribers(scope, subscriptionsOf(asked), catalog.budgets),
  ]);
  const holds = new Map(rows.map((row) => [row.hold_key, row]));
  const deciding = asked.map(
    (each): Deciding => ({
      asked: each,
      settling: (each.settle ?? []).map((settlement) => ({ settlement, hold: holds.get(settlement.hold_key) })),
    }),
  );
  const batches = await readEvents(decider, deciding);
  const asksFor = [...batches.values()].flatMap((batch) => modelsToRate(batch, catalog));
  const books = asksFor.length === 0 ? NO_BOOKS : await new ModelBooks().of(db, asksFor);
  const outcome = batches.size === 0 ? null : await storeEvents(decider, batches, books);

  const windows: CalledWindow[] = rows.flatMap((row) => windowsOfHold(row, catalog.budgets));
  const steps: CalledStep[] = [];
  for (const each of deciding) {
    for (const settling of each.settling)
      addSettlement(decider, { settling, subscribers, batches, books, windows, steps });
    addQuestion(decider, { each, subscribers, windows, steps });
  }
  const sorted = sortedWindows(windows);
  const decided =
    steps.length === 0
      ? { now: decider.now.toString(), outcomes: [], windows: [], step: null }
      : await decideBudgets(scope, { version: catalog.version, windows: sorted, steps });
  if (!decided) throw new Outdated('what storing looks at has changed');
  refuseLoneEvents(deciding, decided);
  return {
    answers: deciding.map((each) => answerOf(each, decided, sorted)),
    stored: outcome && { batches: [...batches.values()], outcome },
    step: decided.step,
  };
}

const subscriptionsOf = (asked: readonly DecisionInput[]): string[] =>
  asked.map(({ external_subscription_id }) => external_subscription_id);

/** The events of settlements of holds that are not settled yet. */
async function readEvents(decider: Decider, deciding: readonly Deciding[]): Promise<Map<Settling, IncomingBatch>> {
  const batches = new Map<Settling, IncomingBatch>();
  for (const settling of deciding.flatMap((each) => each.settling)) {
    const { settlement, hold } = settling;
    if (!settlement.event || !hold || hold.status === 'settled') continue;
    const read = decider.refusesEvents
      ? { errors: errorsOf(unstorable())! }
      : await readSettlingEvent(settlement.event, hold, decider);
    if ('errors' in read) settling.errors = read.errors;
    else batches.set(settling, read.batch);
  }
  return batches;
}

async function storeEvents(
  decider: Decider,
  batches: ReadonlyMap<Settling, IncomingBatch>,
  books: Books,
): Promise<StoreOutcome> {
  const { db, catalog, sender, realNow } = decider;
  const catalogs = new Map([[sender.organizationId, catalog]]);
  const outcome = await storeBatches(db, [...batches.values()], { catalogs, books, now: realNow });
  for (const [index, [settling, batch]] of [...batches].entries()) {
    const verdict = outcome.verdicts[index]?.[0];
    if (verdict === undefined) throw new Outdated('what storing looks at has changed');
    const stored = storedOf(batch.events[0]!, verdict);
    if ('errors' in stored) settling.errors = stored.errors;
    else settling.event = stored;
  }
  return outcome;
}

interface Adding {
  subscribers: Subscribers;
  windows: CalledWindow[];
  steps: CalledStep[];
}

function addSettlement(
  { catalog, present }: Decider,
  {
    settling,
    subscribers,
    batches,
    books,
    windows,
    steps,
  }: Adding & { settling: Settling; batches: ReadonlyMap<Settling, IncomingBatch>; books: Books },
): void {
  const { settlement, hold, event, errors } = settling;
  if (errors) return;
  const batch = batches.get(settling);
  const counted =
    batch && hold && !event!.isReplayed
      ? entriesOfEvent(batch, hold, { catalog, subscribers, present, books })
      : { windows: [], entries: [] };
  windows.push(...counted.windows);
  const entries = settlement.event
    ? counted.entries
    : entriesOfAmount(windowsOfHold(hold, catalog.budgets), settlement.amount!);
  settling.step = steps.length;
  steps.push({
    s: 'settle',
    hold: settlement.hold_key,
    id: hold?.id ?? null,
    digest: settlementDigest(settlement),
    entries,
    transactionId: event?.transactionId ?? null,
    events: event && !event.isReplayed ? 1 : 0,
  });
}

function addQuestion(decider: Decider, { each, subscribers, windows, steps }: Adding & { each: Deciding }): void {
  const { asked } = each;
  if (asked.hold_key === null) return;
  try {
    refuseTooLong(decider, asked.expires_in_seconds);
    const question = questionOf(asked, { catalog: decider.catalog, subscribers, now: decider.now });
    windows.push(...question.parts.map(({ window }) => window));
    each.step = steps.length;
    steps.push(holdStep(asked, asked.hold_key, question));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    each.refusal = error;
  }
}

/** An event is stored with its settlement or not at all: another settlement may have come first. */
function refuseLoneEvents(deciding: readonly Deciding[], { outcomes }: Decided): void {
  for (const { event, step } of deciding.flatMap(({ settling }) => settling)) {
    if (event && !event.isReplayed && step !== undefined && outcomes[step]!.o !== 'settled')
      throw new Outdated('the hold was settled meanwhile');
  }
}

function answerOf(
  { asked, settling, refusal, step }: Deciding,
  { outcomes, now }: Decided,
  windows: readonly CalledWindow[],
): DecisionAnswer {
  if (refusal) return { refusal };
  const settled = settling.map(({ settlement, errors, event, step: own }): SettledHold => {
    if (errors)
      return { hold_key: settlement.hold_key, status: null, late: false, overrun: '0.0', error_details: errors };
    return settledView(settlement.hold_key, outcomes[own!]!, event);
  });
  const shown = { windows, holdKey: asked.hold_key, settled, asOf: now };
  if (step === undefined) return { decision: decisionView({ ...shown, outcome: NOTHING_ASKED }), isReplayed: false };
  const outcome = outcomes[step]!;
  if (outcome.o === 'conflict') return { refusal: refuse.invalid({ hold_key: ['value_already_exist'] }) };
  assert(outcome.o === 'allowed' || outcome.o === 'refused', 'a question is allowed or refused');
  return { decision: decisionView({ ...shown, outcome }), isReplayed: outcome.replayed === true };
}

/** A decision that only settles. */
const NOTHING_ASKED: HoldOutcome = { o: 'allowed', replayed: false, figures: [] };
