import { isUtf8 } from 'node:buffer';
import express, { type Request, type Response } from 'express';
import { parseBody, parsePieces } from '../platform/json/parse-body.ts';
import { refuse } from '../platform/refusal.ts';
import type { Pause } from '../platform/turns/turns.ts';

const JSON_TYPE = /^application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;|$)/i;
/** Largest ratio of unpacked to packed size: a real body has 20. Rule: bulk-events.md#bulk. */
const MOST_RATIO = 100;
/** Characters above which a body waits for its turn; most bodies are far smaller and parsed in a millisecond. */
const LARGE_BODY = 64 * 1024;

type Reader = (request: Request, response: Response, next: (error?: unknown) => void) => void;
const readers = new Map<number, Reader>();

export interface BodyOptions {
  limitBytes: number;
  /** Commas and brackets that the body may hold. */
  mostValues: number;
  /** Members that one object may have, if not as many as usual. */
  mostMembers?: number | undefined;
  keepLiterals: boolean;
  /** Names before the path of a value in errors, for a body without root. */
  pathBefore?: readonly string[];
  /** Called before a large body is parsed, so that organizations take turns. */
  pause: Pause;
}

/**
 * The JSON value of a request's body; undefined if there is none. Numbers keep their written decimal value: a literal
 * that a double cannot hold becomes a text, or a KeptNumber with `keepLiterals` and in metadata.
 *
 * @throws Refusal 400 malformed JSON, 413 too large or too many values, 415 another content type, 422 a number beyond a
 *   double or too long
 */
export async function readBody(request: Request, response: Response, options: BodyOptions): Promise<unknown> {
  const text = await readText(request, response, options.limitBytes);
  if (text === undefined || text === '') return undefined;
  const type = request.headers['content-type'];
  if (type !== undefined && !JSON_TYPE.test(type)) throw refuse.unsupportedMediaType();
  if (text.length <= LARGE_BODY) return parseBody(text, options);
  const pieces = parsePieces(text, options);
  for (;;) {
    await options.pause();
    const piece = pieces.next();
    if (piece.done) return piece.value;
  }
}

async function readText(request: Request, response: Response, limitBytes: number): Promise<string | undefined> {
  let reader = readers.get(limitBytes);
  if (!reader) {
    reader = express.text({ type: () => true, limit: limitBytes, verify: refuseBrokenText }) as Reader;
    readers.set(limitBytes, reader);
  }
  const received = receivedBytes(request);
  const error = await new Promise<unknown>((resolve) => reader(request, response, resolve));
  if (error) throw refusalOfReader(error);
  if (typeof request.body !== 'string') return undefined;
  // A text never has fewer bytes than characters.
  if (received !== undefined && request.body.length > received.bytes * MOST_RATIO) throw refuse.tooLarge();
  return request.body;
}

/** Bytes of a packed body as received, counted while it is read; undefined for one that is not packed. */
function receivedBytes(request: Request): { bytes: number } | undefined {
  if ((request.headers['content-encoding'] ?? 'identity').trim().toLowerCase() === 'identity') return undefined;
  const received = { bytes: 0 };
  request.on('data', (chunk: Buffer) => {
    received.bytes += chunk.length;
  });
  return received;
}

// Decoding would replace all broken bytes by the same character, and so merge different records.
function refuseBrokenText(_request: unknown, _response: unknown, body: Buffer, encoding: string): void {
  if (encoding === 'utf-8' && !isUtf8(body)) throw new Error('not UTF-8');
}

function refusalOfReader(error: unknown): unknown {
  const { type } = error as { type?: string };
  if (type === 'entity.too.large') return refuse.tooLarge();
  if (type === 'charset.unsupported' || type === 'encoding.unsupported') return refuse.unsupportedMediaType();
  if (type !== undefined || (error as { status?: number }).status === 400) return refuse.badRequest('invalid JSON');
  return error;
}
