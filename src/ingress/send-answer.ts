import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';
import type { Outcome } from './edge-deps.ts';
import type { RateFigures } from './rate-limit.ts';

/** An answer may go to several callers, so a long one is encoded once. */
const LONG_TEXT = 65_536;
const encoded = new WeakMap<object, Buffer>();

const JSON_TYPE = 'application/json; charset=utf-8';

/** Sends one serialised answer, setting headers once. An empty text is sent without a body. */
export function send(
  response: Response,
  answer: { status: number; text: string; headers?: Record<string, string> | undefined; contentType?: string },
  rate?: RateFigures,
): void {
  if (!setHeaders(response, answer, rate)) return;
  if (answer.text !== '') response.setHeader('Content-Type', answer.contentType ?? JSON_TYPE);
  const body = answer.text.length < LONG_TEXT ? answer.text : encodedText(answer);
  response.setHeader('Content-Length', Buffer.byteLength(body));
  response.end(body);
}

function encodedText(answer: { text: string }): Buffer {
  const bytes = encoded.get(answer) ?? Buffer.from(answer.text);
  encoded.set(answer, bytes);
  return bytes;
}

/** Sends an answer in pieces and stops when the caller leaves. An error midway cannot be reported to the caller. */
export async function sendStream(
  response: Response,
  { answer, pieces }: { answer: Omit<Outcome, 'stream' | 'bytes'>; pieces: AsyncIterable<string | Uint8Array> },
  rate?: RateFigures,
): Promise<void> {
  if (!setHeaders(response, answer, rate)) return;
  response.setHeader('Content-Type', answer.contentType ?? 'text/plain');
  await pipeline(Readable.from(pieces, { objectMode: false }), response);
}

function setHeaders(
  response: Response,
  answer: { status: number; headers?: Record<string, string> | undefined },
  rate?: RateFigures,
): boolean {
  if (response.headersSent || response.destroyed) return false;
  response.statusCode = answer.status;
  if (rate) {
    response.setHeader('X-RateLimit-Limit', rate.limit);
    response.setHeader('X-RateLimit-Remaining', rate.remaining);
    response.setHeader('X-RateLimit-Reset', rate.resetSeconds);
  }
  if (answer.headers) for (const name in answer.headers) response.setHeader(name, answer.headers[name]!);
  return true;
}
