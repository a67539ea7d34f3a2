import { Agent, type Dispatcher } from 'undici';
import { storableText } from '../schema/storable.ts';
import { guardedLookup, RefusedAddress, type Resolve, type Target } from './addresses.ts';
import { readRetryAfterMs } from './retry-after.ts';

/** How many bytes of an answer are read and stored, unless the sender needs more (webhooks.md#request). */
const ANSWER_MAX_BYTES = 8 * 1024;

const CONNECT_TIMEOUT_MS = 5000;
const KEEP_ALIVE_MS = 30_000;
const CONNECTIONS_PER_ORIGIN = 16;

export interface OutgoingAnswer {
  status: number;
  /** The pause that the receiver requests. */
  retryAfterMs: number | undefined;
  /** The first part of the body: 8 KiB, unless the sender reads more. */
  text: string;
}

/** Sends requests to the addresses that customers configured, and nowhere else. */
export interface Outgoing {
  /**
   * POSTs and reads the answer. Redirects are not followed. Any failure before the status is known is an error, and so
   * is exceeding `timeoutMs`.
   */
  post(target: Target, headers: Record<string, string>, body: string, timeoutMs: number): Promise<OutgoingAnswer>;
  close(): Promise<void>;
}

interface OutgoingOptions {
  allowPrivate: boolean;
  resolve?: Resolve;
  answerMaxBytes?: number;
}

/**
 * One shared agent for the process: connections are kept and checked once, when they are made (webhooks.md#sending).
 */
export function createOutgoing(options: OutgoingOptions): Outgoing {
  const { answerMaxBytes = ANSWER_MAX_BYTES } = options;
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
    post: (target, headers, body, timeoutMs) =>
      new Promise((resolve, reject) => {
        const request = {
          origin: target.origin,
          path: target.path,
          method: 'POST' as const,
          headers,
          body,
          headersTimeout: timeoutMs,
          bodyTimeout: timeoutMs,
        };
        agent.dispatch(request, readAnswer({ timeoutMs, maxBytes: answerMaxBytes }, resolve, reject));
      }),
    close: () => agent.destroy(),
  };
}

/**
 * Reads one answer directly from the connection, because for every webhook a stream and an abort signal would cost more
 * than sending it.
 */
function readAnswer(
  { timeoutMs, maxBytes }: { timeoutMs: number; maxBytes: number },
  resolve: (answer: OutgoingAnswer) => void,
  reject: (error: Error) => void,
): Dispatcher.DispatchHandler {
  let connection: Dispatcher.DispatchController | undefined;
  let tooLate: Error | undefined;
  let start: { status: number; retryAfter: string | string[] | undefined } | undefined;
  const chunks: Buffer[] = [];
  let size = 0;

  const timer = setTimeout(() => stop(new Error(`no answer within ${timeoutMs / 1000} s`)), timeoutMs);
  // A request that still waits for a connection is given up when it gets one.
  const stop = (error: Error) => {
    tooLate = error;
    if (connection) connection.abort(error);
    else reject(error);
  };
  // Once the status has been received, a body that breaks off or never ends does not change the result.
  const settle = (error?: Error) => {
    clearTimeout(timer);
    if (!start) return reject(error!);
    const text = Buffer.concat(chunks).subarray(0, maxBytes).toString('utf8');
    resolve({ status: start.status, retryAfterMs: readRetryAfterMs(start.retryAfter), text: storableText(text) });
  };
  return {
    onRequestStart(controller) {
      connection = controller;
      if (tooLate) controller.abort(tooLate);
    },
    onResponseStart(_controller, status, headers) {
      start = { status, retryAfter: headers['retry-after'] };
    },
    onResponseData(controller, chunk) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= maxBytes) controller.abort(new Error('enough of the answer is read'));
    },
    onResponseEnd: () => settle(),
    onResponseError: (_controller, error) => settle(error),
  };
}

/** The cause of the failure in a line that may be shown to the customer. */
export function describeTrouble(error: unknown): string {
  if (error instanceof RefusedAddress) return error.message;
  const inner = error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error;
  const text = inner instanceof Error ? inner.message || inner.name : String(inner);
  return storableText(text).slice(0, 1000);
}
