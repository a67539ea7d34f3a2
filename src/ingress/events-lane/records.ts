import { isUtf8 } from 'node:buffer';
import { setTimeout as wait } from 'node:timers/promises';
import type { Request } from 'express';
import { BrokenLine, gatewayItems } from '../../areas/usage/ai-doors/gateway-usage.ts';
import type { SentItem, UsageInput } from '../../areas/usage/ai-doors/read-usage.ts';
import { telemetryAnswer } from '../../areas/usage/ai-doors/telemetry-answer.ts';
import { LOGS, TRACES, telemetryItems } from '../../areas/usage/ai-doors/telemetry-usage.ts';
import { recordsText } from '../../areas/usage/ai-doors/usage-answer.ts';
import { batchesOf, verdictsOfItems } from '../../areas/usage/ai-doors/usage-batches.ts';
import type { UsageItem } from '../../areas/usage/ai-doors/usage-item.ts';
import { throwUnlessStorable } from '../../areas/usage/events/answer-text.ts';
import type { IncomingBatch, Verdict } from '../../areas/usage/events/incoming-event.ts';
import { type ParseOptions, parseBody, parsePieces } from '../../platform/json/parse-body.ts';
import { Refusal, refuse } from '../../platform/refusal.ts';
import type { Pause } from '../../platform/turns/turns.ts';
import { unpackedBody } from './unpack.ts';

/** Sizes of a body, packed and unpacked, and how many commas and brackets it may have: a call has some 150. */
const MOST_PACKED_BYTES = 4 * 1024 * 1024;
const MOST_BYTES = 8 * 1024 * 1024;
const MOST_VALUES = 1_000_000;
/** Lines of a body that are looked at, blank ones included. */
const MOST_LINES = 10_000;
/** Items of one job, as many events as the lane puts into one. */
const CHUNK_ITEMS = 500;
/** Pause between two checks of a full lane. */
const LOOK_AGAIN_MS = 20;

const JSON_TYPE = /^application\/json\s*(?:;|$)/i;
const LINES_TYPE = /^application\/(?:x-ndjson|jsonl)\s*(?:;|$)/i;

/** Doors for records of other programs: which calls of models a body reports, and how they are answered. */
export type RecordsDoor = 'gateway' | 'traces' | 'logs';

interface Calls {
  items: SentItem[];
  answer(input: UsageInput, verdicts: Verdict[][]): string;
}

/**
 * Reads the body of a request and finds the calls of models in it.
 *
 * at  ISO text of its reception
 *
 * @throws Refusal 400, 413, 415, 422 of the list; ConnectionLost
 */
export async function readRecords(door: RecordsDoor, request: Request, at: string, pause: Pause): Promise<Calls> {
  const type = request.headers['content-type'] ?? '';
  const mayBeLines = door === 'gateway' && LINES_TYPE.test(type);
  if (!mayBeLines && !JSON_TYPE.test(type)) throw door === 'gateway' ? refuse.unsupportedMediaType() : refuseBinary();
  const text = await textOf(request);
  if (door === 'gateway') {
    const lines = linesIn(text, mayBeLines);
    const items = gatewayItems(lines ? await parsedLines(lines, pause) : await parsed(text, pause));
    return { items, answer: recordsText };
  }
  const [signal, word, member] =
    door === 'traces' ? [TRACES, 'span', 'rejectedSpans'] : [LOGS, 'log record', 'rejectedLogRecords'];
  const found = telemetryItems(signal, (await parsed(text, pause)) ?? {}, at);
  const places = found.map(({ place }) => place);
  return {
    items: found.map(({ item }) => item),
    answer: ({ items }, verdicts) => telemetryAnswer({ word, member }, { items, places, verdicts }),
  };
}

const refuseBinary = (): Refusal =>
  new Refusal(415, {
    error: 'send application/json: the OTLP exporter for http/json, or of a collector otlphttp with `encoding: json`',
    code: 'unsupported_media_type',
  });

async function textOf(request: Request): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of unpackedBody(request, MOST_BYTES, MOST_PACKED_BYTES)) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  if (!isUtf8(bytes)) throw refuse.badRequest('invalid JSON');
  return bytes.toString();
}

const OPTIONS: ParseOptions = { keepLiterals: true, mostValues: MOST_VALUES, pathBefore: ['body'] };

async function parsed(text: string, pause: Pause): Promise<unknown> {
  if (text.trim() === '') return undefined;
  const pieces = parsePieces(text, OPTIONS);
  for (;;) {
    await pause();
    const piece = pieces.next();
    if (piece.done) return piece.value;
  }
}

/** Lines of a text; undefined where it is one value. The gateway sends lines as `application/json` too. */
function linesIn(text: string, isOfLines: boolean): string[] | undefined {
  if (!isOfLines && !isOfObjects(text.trimStart())) return undefined;
  const lines = text.split('\n', MOST_LINES + 1);
  if (lines.length > MOST_LINES) throw refuse.invalid({ ai_usages: ['too_many_events'] });
  return lines.filter((line) => line.trim() !== '');
}

/** Whether two lines follow on each other that each begin an object, as no JSON value has them. */
function isOfObjects(text: string): boolean {
  const end = text.indexOf('\n');
  if (end === -1 || !text.startsWith('{')) return false;
  return text.slice(0, end).trimEnd().endsWith('}') && text.slice(end).trimStart().startsWith('{');
}

async function parsedLines(lines: readonly string[], pause: Pause): Promise<unknown[]> {
  const values: unknown[] = [];
  for (const line of lines) {
    await pause();
    values.push(lineOf(line));
  }
  return values;
}

function lineOf(line: string): unknown {
  try {
    return parseBody(line, OPTIONS);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return new BrokenLine(error.status === 413 ? 'value_is_too_long' : 'invalid_json');
  }
}

interface StoringDeps {
  send(batch: IncomingBatch): Verdict[] | Promise<Verdict[]>;
  isFull(): boolean;
  /** Renews the place of the request. */
  keep(): Promise<void>;
  /** Longest wait of a chunk for a full lane. */
  patienceMs: number;
}

/**
 * Stores calls in chunks, each for itself. A request that is refused midway has stored those before, and its
 * repetition replays them.
 *
 * @returns verdicts on the events of each item
 * @throws Refusal 405, 503, 504
 */
export async function storeInChunks(deps: StoringDeps, input: UsageInput): Promise<Verdict[][]> {
  const verdicts: Verdict[][] = [];
  for (let from = 0; from < input.items.length; from += CHUNK_ITEMS) {
    await deps.keep();
    for (let waited = 0; deps.isFull(); waited += LOOK_AGAIN_MS) {
      if (waited >= deps.patienceMs) throw refuse.unavailable();
      await wait(LOOK_AGAIN_MS);
    }
    const items: UsageItem[] = input.items.slice(from, from + CHUNK_ITEMS);
    const placed = batchesOf({ ...input, items });
    const own = verdictsOfItems(placed, await Promise.all(placed.batches.map(deps.send)));
    for (const each of own) throwUnlessStorable(each);
    verdicts.push(...own);
  }
  return verdicts;
}
