import { setTimeout as wait } from 'node:timers/promises';
import { itemOf, type SentItem } from '../../areas/usage/ai-doors/read-usage.ts';
import type { UsageItem } from '../../areas/usage/ai-doors/usage-item.ts';
import { errorsOf, throwUnlessStorable } from '../../areas/usage/events/answer-text.ts';
import type { IncomingBatch, IncomingEvent, Verdict } from '../../areas/usage/events/incoming-event.ts';
import { parseEvent } from '../../areas/usage/events/parse-event.ts';
import { memberOf, sentTransactionId } from '../../areas/usage/events/read-request.ts';
import { parseBody } from '../../platform/json/parse-body.ts';
import { type FieldErrors, Refusal, refuse } from '../../platform/refusal.ts';
import { BulkReport } from './bulk-report.ts';
import { type Line, linesOf } from './lines.ts';

/** Limits of bulk-events.md#bulk; a chunk is stored by one job, as many events as the lane puts into one. */
const MOST_LINE_BYTES = 64 * 1024;
const CHUNK_EVENTS = 500;
const CHUNK_CHARACTERS = 512 * 1024;
/** Pause between two checks of a full lane. */
const LOOK_AGAIN_MS = 20;

export interface BulkDeps {
  /** Stores a chunk; see Coalescer. */
  send(batch: IncomingBatch): Promise<Verdict[]>;
  isFull(): boolean;
  /** Lines that one request may have, blank ones included. */
  mostLines: number;
  /**
   * Characters of all canonical properties: as many as a body may have; only numbers with exponents become longer than
   * sent.
   */
  mostProperties: number;
  /** Longest wait of a chunk for a full lane. */
  patienceMs: number;
  /** A parsed line with names under the prefix `svc_`. */
  translate(body: unknown): unknown;
  /** Reads the usage of models of some lines together. */
  readUsage(items: readonly SentItem[]): Promise<UsageItem[]>;
}

/** A bulk request that was refused midway: committed lines stay, and the answer says so. */
export class BulkRefusal extends Refusal {}

/** What a line holds: an event, or usage of a model that is read with that of its chunk. */
type Sent = { line: number } & ({ event: IncomingEvent } | { usage: SentItem });
/** The same as its events, which are stored together. */
interface Stored {
  line: number;
  events: readonly IncomingEvent[];
}

/**
 * Stores events as they arrive, one on each line, in chunks of 500: while one is stored only the next one is read, so
 * memory does not grow with the body and a slow database slows the sender down. A line that is not an event is reported
 * and skipped.
 *
 * sender organization and key of the sender, and the time of reception
 *
 * @throws BulkRefusal with the report of what was stored before; ConnectionLost
 * Rule: bulk-events.md#bulk.
 */
export async function storeLines(
  deps: BulkDeps,
  bytes: AsyncIterable<Buffer>,
  sender: Omit<IncomingBatch, 'atomic' | 'events'>,
  report = new BulkReport(sender.explain !== undefined),
): Promise<BulkReport> {
  let chunk: Sent[] = [];
  let storing: Promise<void> = Promise.resolve();
  let characters = 0;
  let properties = 0;

  async function flush(): Promise<void> {
    await storing;
    const full = chunk;
    chunk = [];
    characters = 0;
    storing = full.length === 0 ? Promise.resolve() : storeChunk(deps, full, sender, report);
    storing.catch(() => {}); // awaited before the next chunk, and at the end
  }

  try {
    for await (const line of linesOf(bytes, { mostBytes: MOST_LINE_BYTES, mostLines: deps.mostLines })) {
      if (line.number > deps.mostLines) {
        await flush();
        throw refuse.invalid({ events: ['too_many_events'] });
      }
      const read = readLine(deps, line);
      if ('errors' in read) report.reject(line.number, read.transactionId, read.errors);
      else chunk.push({ line: line.number, ...read });
      const length = 'event' in read ? read.event.properties.length : 0;
      properties += length;
      if (properties > deps.mostProperties) throw refuse.tooLarge();
      characters += Math.max(line.text?.length ?? 0, length);
      if (chunk.length >= CHUNK_EVENTS || characters >= CHUNK_CHARACTERS) await flush();
    }
    await flush();
    await storing;
    return report;
  } catch (error) {
    await storing.catch(() => {}); // the first error is reported
    if (!(error instanceof Refusal)) throw error;
    const { status: _, ...body } = error.body;
    throw new BulkRefusal(error.status, { ...body, bulk: report.view() });
  }
}

async function storeChunk(
  deps: BulkDeps,
  chunk: readonly Sent[],
  sender: Omit<IncomingBatch, 'atomic' | 'events'>,
  report: BulkReport,
): Promise<void> {
  for (let waited = 0; deps.isFull(); waited += LOOK_AGAIN_MS) {
    if (waited >= deps.patienceMs) throw refuse.unavailable();
    await wait(LOOK_AGAIN_MS);
  }
  const lines = await eventsOf(deps, chunk, report);
  const single = lines.filter(({ events }) => events.length === 1);
  const several = lines.filter(({ events }) => events.length > 1);
  await Promise.all([
    ...(single.length === 0 ? [] : [storeLinesOf(deps, { ...sender, atomic: false, events: [] }, single, report)]),
    ...several.map((line) => storeLinesOf(deps, { ...sender, atomic: true, events: [] }, [line], report)),
  ]);
}

async function storeLinesOf(
  deps: BulkDeps,
  batch: IncomingBatch,
  lines: readonly Stored[],
  report: BulkReport,
): Promise<void> {
  const verdicts = await deps.send({ ...batch, events: lines.flatMap(({ events }) => events) });
  throwUnlessStorable(verdicts);
  let place = 0;
  for (const { line, events } of lines) {
    const own = verdicts.slice(place, place + events.length);
    place += events.length;
    // A refused one says why; the others were not stored because of it.
    const told = Math.max(
      0,
      own.findIndex((verdict) => errorsOf(verdict) !== undefined),
    );
    report.note(line, events[told]!, own[told]!);
  }
}

/** Events of the lines; those with usage of models are read together. Faults are reported. */
async function eventsOf(deps: BulkDeps, chunk: readonly Sent[], report: BulkReport): Promise<Stored[]> {
  const usages = chunk.flatMap((sent) => ('usage' in sent ? [sent.usage] : []));
  const read = usages.length === 0 ? [] : await deps.readUsage(usages);
  let place = 0;
  return chunk.flatMap((sent) => {
    if ('event' in sent) return [{ line: sent.line, events: [sent.event] }];
    const item = read[place]!;
    place += 1;
    if ('call' in item) return [{ line: sent.line, events: item.call.events }];
    const { transaction_id, errors } =
      'fault' in item ? item.fault : { ...item.ignored, errors: { body: ['value_is_mandatory'] } };
    report.reject(sent.line, transaction_id, errors);
    return [];
  });
}

type Read = { event: IncomingEvent } | { usage: SentItem } | { errors: FieldErrors; transactionId: string | null };

function readLine(deps: BulkDeps, { text }: Line): Read {
  if (text === null) return { errors: { line: ['value_is_too_long'] }, transactionId: null };
  let sent: unknown;
  try {
    sent = deps.translate(parseBody(text, { keepLiterals: true }));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const errors = error.status === 422 ? (error.body.error_details as FieldErrors) : { line: ['invalid_json'] };
    return { errors, transactionId: null };
  }
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent))
    return { errors: { line: ['value_is_invalid'] }, transactionId: null };
  const usage = memberOf(sent, 'ai_usage');
  if (typeof usage === 'object' && usage !== null) return { usage: itemOf(usage) };
  const wrapped = memberOf(sent, 'event');
  const event = typeof wrapped === 'object' && wrapped !== null ? wrapped : sent;
  const parsed = parseEvent(event, { most: MOST_LINE_BYTES });
  return parsed.ok ? { event: parsed.event } : { errors: parsed.errors, transactionId: sentTransactionId(event) };
}
