import { request } from 'undici';
import { jsonIn, readBounded } from '../http/answers.ts';
import { readRetryAfterMs } from '../http/retry-after.ts';
import { Outage } from '../refusal.ts';
import { TooManyCalls } from './port.ts';

/** Longest wait for one answer of a provider; the job is then tried again. */
const TIMEOUT_MS = 20_000;
/** Bytes of an answer that are read: a page of a hundred records has some hundred thousand. */
const ANSWER_MAX_BYTES = 2 * 1024 * 1024;

export interface JsonCall {
  method: 'GET' | 'POST' | 'PATCH';
  url: string;
  headers: Record<string, string>;
  body?: object;
}

export interface JsonAnswer {
  status: number;
  /** Undefined if it is no JSON. */
  body: unknown;
}

/**
 * Calls a provider at an address that its driver knows. What a driver understands comes back, refusals too; no answer,
 * one with status 3xx, 408 or 5xx, and one call too many are thrown. Redirects are not followed.
 *
 * resetHeader   in which the provider says when it takes the next call: an instant, or seconds from now
 * @throws Outage, TooManyCalls
 */
export async function callJson(
  provider: string,
  { method, url, headers, body }: JsonCall,
  resetHeader = 'retry-after',
): Promise<JsonAnswer> {
  let answer: { status: number; text: string; waitMs: number | undefined };
  try {
    const answered = await request(url, {
      method,
      headers: { accept: 'application/json', 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    answer = {
      status: answered.statusCode,
      text: await readBounded(answered.body, ANSWER_MAX_BYTES),
      waitMs: readRetryAfterMs(answered.headers[resetHeader]),
    };
  } catch (error) {
    throw new Outage(provider, error);
  }
  const { status, text, waitMs } = answer;
  const said = new Error(`status ${status}`);
  if (status === 429) throw new TooManyCalls(provider, said, waitMs);
  // A redirect, and a call that took somebody in between too long: nobody knows what became of it.
  if (status >= 500 || status === 408 || (status >= 300 && status < 400)) throw new Outage(provider, said);
  return { status, body: jsonIn(text) };
}
