import { setImmediate as nextTurn } from 'node:timers/promises';
import { realNowExactMs } from '../../../platform/clock/real-clock.ts';
import type { Config } from '../../../platform/config.ts';
import type { Delivered, PutAside, StreamMessage } from '../../../platform/streams/source.ts';
import { messageHeadersFromWire } from '../../../platform/wire-prefix.ts';
import type { DoorFacts } from '../ai-doors/door-facts.ts';
import type { IncomingBatch, IncomingEvent, Verdict } from '../events/incoming-event.ts';
import { isoOfMs } from '../events/timestamps.ts';
import { storeBeside } from '../ingest-events/store-beside.ts';
import type { StoreDeps } from '../ingest-events/store-events.ts';
import { moveCheckpoints, type Progress } from './checkpoints.ts';
import { type Connector, type DeadLetter, insertDeadLetters, keptLetter } from './dead-letters.ts';
import { type DeadMessage, deadMessage } from './dead-message.ts';
import { type DecodedEvent, decodeMessage, type Sent, wholeMessage } from './decode-message.ts';

/** How many events and bytes of messages share a transaction; a larger message goes alone. */
const MOST_EVENTS = 1000;
const MOST_BYTES = 1024 * 1024;
/** So long messages are decoded before the rest of the process has its turn, such as the answers of Postgres. */
const TURN_MS = 2;
/** What stands as the sender of an event of a stream. */
const SENDER = 'connector';

export type StreamDeps = StoreDeps & {
  doors: Pick<DoorFacts, 'settings'>;
  config: Pick<Config, 'WIRE_PREFIX'>;
};

export interface ConnectorOf extends Connector {
  isSandbox: boolean;
}

/** The organization's test clock advances: its events are stored afterwards. */
export class ClockAdvances extends Error {
  constructor() {
    super('the test clock of the organization advances');
    this.name = 'ClockAdvances';
  }
}

/** What became of the messages of one transaction. */
export interface Outcome extends Delivered {
  /** How many messages, from the first one. */
  taken: number;
  stored: number;
  replayed: number;
  dead: number;
  /** What the dead letters keep. */
  deadBytes: number;
}

/** An event of a message, or what is put aside of it. */
interface Piece {
  of: StreamMessage;
  part: number;
  decoded: DecodedEvent;
}

/** Messages that share a transaction, and what each becomes. */
export interface ReadMessages {
  messages: readonly StreamMessage[];
  pieces: readonly Piece[];
  /** How many messages, from the first one. */
  taken: number;
}

/**
 * Decodes as many messages as share a transaction, from the first one. It takes turns with the rest of the process, and
 * may run while the messages before are stored.
 *
 * messages  at least one; those of a key in their order
 *
 * @throws any error of the database, which is asked for the settings of the organization now and then
 * Rule: streams.md#storing.
 */
export async function readMessages(
  { sql, doors, config }: Pick<StreamDeps, 'sql' | 'doors' | 'config'>,
  connector: Connector,
  messages: readonly StreamMessage[],
): Promise<ReadMessages> {
  const { cloudEventTypes: types } = await doors.settings({ db: sql, organizationId: connector.organizationId });
  const pieces: Piece[] = [];
  let taken = 0;
  let bytes = 0;
  let since = performance.now();
  for (const message of messages) {
    const length = message.bytes?.length ?? 0;
    if (taken > 0 && (pieces.length >= MOST_EVENTS || bytes + length > MOST_BYTES)) break;
    const decoded = decodedOf(connector, message, { types, prefix: config.WIRE_PREFIX });
    if (taken > 0 && pieces.length + decoded.length > MOST_EVENTS) break;
    for (const [part, each] of decoded.entries()) pieces.push({ of: message, part, decoded: each });
    bytes += length;
    taken += 1;
    if (performance.now() - since < TURN_MS) continue;
    await nextTurn();
    since = performance.now();
  }
  return { messages: messages.slice(0, taken), pieces, taken };
}

/**
 * Stores messages that share a transaction: their events, dead letters of what cannot be stored, and how far was read,
 * all of it or nothing. Three awaited statements at most.
 *
 * @throws ClockAdvances; any error of the database: nothing is stored
 * Rules: streams.md#storing, streams.md#dead-letters.
 */
export async function storeMessages(
  deps: StoreDeps,
  connector: ConnectorOf,
  { messages, pieces }: ReadMessages,
): Promise<Outcome> {
  const now = isoOfMs(realNowExactMs());
  const events = pieces.flatMap(({ decoded }) => ('event' in decoded ? [decoded.event] : []));
  let outcome: Outcome | undefined;
  await storeBeside(deps, batchOf(connector, events, now), async (tx, verdicts) => {
    if (verdicts.some((verdict) => typeof verdict === 'object' && 'e' in verdict && verdict.e.status === 405))
      throw new ClockAdvances();
    const settled = settle(pieces, messages, verdicts);
    outcome = settled.outcome;
    const { letters, progress } = settled;
    // Sent together.
    await Promise.all([
      letters.length === 0 ? [] : insertDeadLetters(tx, connector, letters, now),
      moveCheckpoints(tx, connector, progress, now),
    ]);
  });
  return outcome!;
}

function decodedOf(
  { organizationId }: Connector,
  { bytes, refused, sourceTime, headers: sent = {} }: StreamMessage,
  { types, prefix }: { types: ReadonlyMap<string, string>; prefix: string },
): DecodedEvent[] {
  if (bytes === null) return [];
  const headers = messageHeadersFromWire(sent, prefix);
  if (refused) return [{ dead: deadMessage(refused.code, refused.message, bytes), sent: wholeMessage(bytes, headers) }];
  return decodeMessage(bytes, { organizationId, sourceTime, headers, types });
}

const batchOf = ({ organizationId, isSandbox }: ConnectorOf, events: IncomingEvent[], now: string): IncomingBatch => ({
  organization_id: organizationId,
  sandbox: isSandbox,
  atomic: false,
  received_at: now,
  user_agent: SENDER,
  remote_address: null,
  events,
});

/** Verdicts become counts, dead letters and checkpoints. */
function settle(pieces: readonly Piece[], messages: readonly StreamMessage[], verdicts: readonly Verdict[]) {
  const letters: DeadLetter[] = [];
  const byKey = new Map<string, Progress>();
  for (const { checkpoint, isMark } of messages) {
    const kept = byKey.get(checkpoint.key);
    if (kept) kept.checkpoint = checkpoint;
    else byKey.set(checkpoint.key, { checkpoint, received: 0, stored: 0, replayed: 0, dead: 0 });
    if (!isMark) byKey.get(checkpoint.key)!.received += 1;
  }
  const reasons = new Map<StreamMessage, { code: string; message: string }[]>();
  let next = 0;
  for (const { of, part, decoded } of pieces) {
    const progress = byKey.get(of.checkpoint.key)!;
    const dead = 'dead' in decoded ? decoded.dead : deadOf(decoded.sent, verdicts[next]!);
    if ('event' in decoded) {
      if (!dead) progress[isReplayed(verdicts[next]!) ? 'replayed' : 'stored'] += 1;
      next += 1;
    }
    if (!dead) continue;
    progress.dead += 1;
    const headers = decoded.sent.headers();
    letters.push(keptLetter({ ...dead, position: of.position, part, sourceTime: of.sourceTime, headers }));
    reasons.set(of, [...(reasons.get(of) ?? []), { code: dead.code, message: dead.message }]);
  }
  const progress = [...byKey.values()];
  const sum = (count: 'stored' | 'replayed' | 'dead') => progress.reduce((total, each) => total + each[count], 0);
  const putAside: PutAside[] = [...reasons].map(([message, found]) => ({ message, reasons: found }));
  const outcome: Outcome = {
    taken: messages.length,
    stored: sum('stored'),
    replayed: sum('replayed'),
    dead: sum('dead'),
    deadBytes: letters.reduce((total, { payload }) => total + payload.length, 0),
    putAside,
  };
  return { letters, progress, outcome };
}

const isReplayed = (verdict: Verdict): boolean => typeof verdict === 'object' && 'r' in verdict;

/** Undefined if the event is stored, now or earlier. */
function deadOf({ payload }: Sent, verdict: Verdict): DeadMessage | undefined {
  if (verdict === 1) return deadMessage('value_already_exist', 'transaction_id: value_already_exist', payload());
  if (typeof verdict !== 'object' || !('e' in verdict)) return undefined;
  const { error_details: details } = verdict.e.body as { error_details?: Record<string, string[]> };
  const told = Object.entries(details ?? {}).map(([field, codes]) => `${field}: ${codes.join(', ')}`);
  return deadMessage('invalid_event', told.join('; ') || 'the event is refused', payload());
}
