import { Agent, type Dispatcher } from 'undici';
import { realNowMs } from '../clock/real-clock.ts';
import { guardedLookup, RefusedAddress, type Resolve, type Target } from './addresses.ts';

/** At most this much of an answer is read and kept (platform G.4). */
const ANSWER_MAX_BYTES = 8 * 1024;

const CONNECT_TIMEOUT_MS = 5000;
const KEEP_ALIVE_MS = 30_000;
const CONNECTIONS_PER_ORIGIN = 16;

export interface OutgoingAnswer {
  status: number;
  /** What the receiver asks for before the next request, from a Retry-After in either form. */
  retryAfterMs: number | undefined;
  /** First 8 KiB of the body. */
  text: string;
}

/** Sends requests to the addresses that customers gave us, and nowhere else. */
export interface Outgoing {
  /**
   * POSTs and reads the answer. Redirects are not followed. Any trouble before the status is known is an error, also
   * when the whole takes longer than `timeoutMs`.
   */
  post(target: Target, headers: Record<string, string>, body: string, timeoutMs: number): Promise<OutgoingAnswer>;
  close(): Promise<void>;
}

/** One shared agent for the process: connections are kept and checked once, when they are made (performance-design 7). */
export function createOutgoing(options: { allowPrivate: boolean; resolve?: Resolve }): Outgoing {
  const agent = new Agent({
    pipelining: 1,
    connections: CONNECTIONS_PER_ORIGIN,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    connect: {
      timeout: CONNECT_TIMEOUT_MS,
      ...(options.allowPrivate ? {} : { lookup: guardedLookup(options.resolve) }),
    },
  });
  return {
    async post(target, headers, body, timeoutMs) {
      const deadline = new AbortController();
      const timer = setTimeout(() => deadline.abort(new Error(`no answer within ${timeoutMs / 1000} s`)), timeoutMs);
      try {
        const answer = await agent.request({
          origin: target.origin,
          path: target.path,
          method: 'POST',
          headers,
          body,
          headersTimeout: timeoutMs,
          bodyTimeout: timeoutMs,
          signal: deadline.signal,
        });
        return {
          status: answer.statusCode,
          retryAfterMs: readRetryAfter(answer.headers['retry-after']),
          text: await readStart(answer.body),
        };
      } finally {
        clearTimeout(timer);
      }
    },
    close: () => agent.destroy(),
  };
}

function readRetryAfter(header: string | string[] | undefined): number | undefined {
  const value = (Array.isArray(header) ? header[0] : header)?.trim();
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(date - realNowMs(), 0);
}

// The status has been received: a body that breaks off or never ends changes nothing about it.
async function readStart(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  body.on('error', () => {});
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= ANSWER_MAX_BYTES) break;
    }
  } catch {
    // what came before is kept
  }
  return storable(Buffer.concat(chunks).subarray(0, ANSWER_MAX_BYTES).toString('utf8'));
}

/** What went wrong, in a line that may be shown to the customer. */
export function describeTrouble(error: unknown): string {
  if (error instanceof RefusedAddress) return error.message;
  const inner = error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error;
  const text = inner instanceof Error ? inner.message || inner.name : String(inner);
  return storable(text).slice(0, 1000);
}

// Postgres keeps neither U+0000 nor lone surrogates.
const storable = (text: string): string => text.replaceAll('\0', '').toWellFormed();
