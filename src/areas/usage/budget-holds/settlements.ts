import { assert } from '../../../engine/assert.ts';
import type { FieldErrors } from '../../../platform/refusal.ts';
import type { Books } from '../../catalog/model-books/model-books.ts';
import type { CalledStep, CalledWindow, Decided } from '../budget-windows/decide-call.ts';
import { Outdated } from '../budget-windows/decide-call.ts';
import type { Subscribers } from '../budget-windows/subscribers.ts';
import { errorsOf, shownText } from '../events/answer-text.ts';
import { callId } from '../events/call-id.ts';
import { explainBatch } from '../events/explain/explain-batch.ts';
import type { IncomingBatch, Verdict } from '../events/incoming-event.ts';
import { unstorable } from '../events/storage/data-errors.ts';
import { type StoreOutcome, storeBatches } from '../events/storage/store-batches.ts';
import { settledView } from './answer-decision.ts';
import { type AskedDecision, type AskedSettlement, holdNameOf } from './asked-decision.ts';
import type { Decider } from './decide-all.ts';
import { entriesOfAmount, settlementDigest, windowsOfHold } from './prepare-decisions.ts';
import type { HoldRow } from './queries.ts';
import type { SettledHold } from './schema.ts';
import {
  batchOfCall,
  entriesOfEvents,
  readSettlingEvent,
  type SettlingBatch,
  type StoredCall,
  storedOf,
} from './settling-events.ts';

/** A settlement on its way: what it was prepared for, and where its step is. */
export interface Settling {
  settlement: AskedSettlement;
  hold: HoldRow | undefined;
  batch?: IncomingBatch;
  call?: StoredCall;
  verdicts?: Verdict[];
  errors?: FieldErrors;
  /** Position of its step; without one nothing is asked of the database. */
  step?: number;
}

/** Holds by what settlements call them. */
export function holdNamed(settlement: AskedSettlement, rows: readonly HoldRow[]): HoldRow | undefined {
  const name = holdNameOf(settlement);
  return name && rows.find((row) => ('id' in name ? row.id === name.id : row.hold_key === name.key));
}

/** Reads the events of settlements, those of holds that are not settled yet. */
export async function readSettling(
  decider: Decider,
  asked: Pick<AskedDecision, 'sender' | 'door'>,
  settling: readonly Settling[],
): Promise<void> {
  for (const each of settling) {
    const read = await batchOf(decider, each, asked);
    if (read === undefined) continue;
    if ('errors' in read) each.errors = read.errors;
    else each.batch = read.batch;
  }
}

/** Undefined: nothing is stored. */
async function batchOf(
  decider: Decider,
  { settlement, hold }: Settling,
  { sender, door }: Pick<AskedDecision, 'sender' | 'door'>,
): Promise<SettlingBatch | undefined> {
  const { event, usage, svc_hold_id, hold_key } = settlement;
  if (usage && 'fault' in usage) return { errors: usage.fault.errors };
  if (!hold && svc_hold_id !== undefined) return { errors: { svc_hold_id: ['value_is_invalid'] } };
  // The database answers, which may find one that was made meanwhile.
  if (!hold && hold_key !== undefined) return undefined;
  if (!event && !(usage && 'call' in usage)) return undefined;
  if (decider.refusesEvents) return { errors: errorsOf(unstorable())! };
  if (hold?.status === 'settled') {
    // A door answers with the events as they were stored.
    if (!door || hold.settlement_digest !== settlementDigest(settlement)) return undefined;
  }
  if (event) return readSettlingEvent(event, hold!, decider);
  assert(sender && usage && 'call' in usage, 'usage comes with its sender');
  return batchOfCall(usage.call, hold, sender);
}

/** Stores the events of settlements. @throws Outdated when what storing looks at has changed */
export async function storeSettling(
  decider: Decider,
  settling: readonly Settling[],
  books: Books,
): Promise<StoreOutcome | null> {
  const { db, catalog, sender, realNow } = decider;
  const storing = settling.filter((each) => each.batch !== undefined);
  if (storing.length === 0) return null;
  const batches = storing.map(({ batch }) => batch!);
  const catalogs = new Map([[sender.organizationId, catalog]]);
  const outcome = await storeBatches(db, batches, { catalogs, books, now: realNow });
  for (const [index, each] of storing.entries()) {
    const verdicts = outcome.verdicts[index];
    if (verdicts === undefined) throw new Outdated('what storing looks at has changed');
    const stored = storedOf(transactionIdOf(each), verdicts);
    if ('errors' in stored) each.errors = stored.errors;
    else each.call = stored;
    each.verdicts = await explainBatch(db, each.batch!, { verdicts: shownVerdicts(each, verdicts), now: realNow });
  }
  return outcome;
}

/** A door that did not know the subscription cannot show the event; a call is answered as it is stored. */
const shownVerdicts = ({ settlement: { usage }, batch }: Settling, verdicts: readonly Verdict[]): Verdict[] =>
  batch!.events.map((event, index) => {
    const verdict = verdicts[index]!;
    const isFilled = usage && 'call' in usage && usage.call.events[index]!.external_subscription_id === '';
    const isRated = typeof verdict === 'object' && 'c' in verdict;
    return isRated || (verdict === 0 && isFilled) ? { s: shownText(event, batch!, verdict) } : verdict;
  });

const transactionIdOf = ({ settlement: { usage }, batch }: Settling): string =>
  usage && 'call' in usage ? callId(usage.call) : batch!.events[0]!.transaction_id;

interface Adding {
  books: Books;
  subscribers: Subscribers;
  windows: CalledWindow[];
  steps: CalledStep[];
}

/** Adds the step of a settlement, and the windows that it needs. */
export function addSettlement(decider: Decider, each: Settling, adding: Adding): void {
  const { subscribers, books, windows, steps } = adding;
  const { settlement, hold, batch, call, errors } = each;
  const name = holdNameOf(settlement);
  if (errors || !name) return;
  assert(hold || 'key' in name, 'a hold that is named by its id is there, or refused before');
  const { catalog, present } = decider;
  const held = windowsOfHold(hold, catalog.budgets);
  const counted =
    batch && hold && call
      ? entriesOfEvents(batch, hold, { catalog, books, subscribers, present, held, stored: call.stored })
      : { windows: [], entries: [] };
  windows.push(...counted.windows);
  each.step = steps.length;
  steps.push({
    s: 'settle',
    hold: hold?.hold_key ?? (name as { key: string }).key,
    id: hold?.id ?? null,
    digest: settlementDigest(settlement),
    entries: typeof settlement.amount === 'string' ? entriesOfAmount(held, settlement.amount) : counted.entries,
    transactionId: call?.transactionId ?? null,
    events: call?.stored.length ?? 0,
  });
}

/** An event is stored with its settlement or not at all: another settlement may have come first. */
export function refuseLoneEvents(settling: readonly Settling[], { outcomes }: Decided): void {
  for (const { call, step } of settling) {
    if (call && !call.isReplayed && step !== undefined && outcomes[step]!.o !== 'settled')
      throw new Outdated('the hold was settled meanwhile');
  }
}

/** What became of a settlement, as it is shown. */
export function settledOf(each: Settling, { outcomes }: Decided): SettledHold {
  const { settlement, hold, errors, call, step } = each;
  const key = hold?.hold_key ?? settlement.hold_key ?? '';
  if (errors) return { hold_key: key, status: null, late: false, overrun: '0.0', error_details: errors };
  return settledView(key, outcomes[step!]!, call);
}

/** Why a settlement is not done; undefined if it is. */
export function faultOf(each: Settling, { outcomes }: Decided): FieldErrors | undefined {
  const { errors, step, settlement } = each;
  if (errors) return errors;
  const outcome = step === undefined ? undefined : outcomes[step]!.o;
  const field = settlement.svc_hold_id === undefined ? 'hold_key' : 'svc_hold_id';
  if (outcome === 'unknown') return { [field]: ['value_is_invalid'] };
  return outcome === 'closed' ? { [field]: ['hold_not_open'] } : undefined;
}
