import type { Response } from 'express';
import type { RateFigures } from './rate-limit.ts';

const JSON_TYPE = 'application/json; charset=utf-8';

/** Sends one answer: serialised before, headers set once. An empty text goes out without a body. */
export function send(
  response: Response,
  answer: { status: number; text: string; headers?: Record<string, string> | undefined; contentType?: string },
  rate?: RateFigures,
): void {
  if (response.headersSent || response.destroyed) return;
  response.statusCode = answer.status;
  if (rate) {
    response.setHeader('X-RateLimit-Limit', rate.limit);
    response.setHeader('X-RateLimit-Remaining', rate.remaining);
    response.setHeader('X-RateLimit-Reset', rate.resetSeconds);
  }
  if (answer.headers) for (const name in answer.headers) response.setHeader(name, answer.headers[name]!);
  if (answer.text !== '') response.setHeader('Content-Type', answer.contentType ?? JSON_TYPE);
  response.setHeader('Content-Length', Buffer.byteLength(answer.text));
  response.end(answer.text);
}
