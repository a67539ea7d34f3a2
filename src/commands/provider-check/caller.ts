import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { request } from 'undici';
import { realNowMs } from '../../platform/clock/real-clock.ts';
import { isSignedStandard, standardHeaders } from '../../platform/payments/standard-webhooks.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of a provider that is being judged
type Loose = any;

export interface Said {
  status: number;
  body: Loose;
}

/** An event of the provider as it arrived, and whether it was signed as the protocol wants. */
export interface Arrived {
  isSigned: boolean;
  event: Loose;
}

/** Deviations from what the service itself would send. */
export interface Odd {
  id?: string;
  /** Seconds that the signature is old. */
  ageSeconds?: number;
  secret?: string;
  /** Sent in place of the body that was signed. */
  otherBody?: string;
}

/** Longest wait for one answer, and for an event. */
const TIMEOUT_MS = 20_000;
const EVENT_WITHIN_MS = 30_000;
const POLL_MS = 50;
const BODY_MAX = 1024 * 1024;

/** Calls a provider as the service does, and receives its events. */
export interface Caller {
  inboundUrl: string;
  post(type: string, data: object, odd?: Odd): Promise<Said>;
  /** Posts, and breaks the line as soon as the answer comes, so that it is lost. */
  postAndLose(type: string, data: object, id: string): Promise<void>;
  /** The first event that passes, once it has arrived. */
  event(passes: (event: Loose) => boolean): Promise<Arrived | undefined>;
  close(): Promise<void>;
}

export async function openCaller(
  url: string,
  secret: string,
  { inboundUrl, port = 0 }: { inboundUrl?: string | undefined; port?: number },
): Promise<Caller> {
  const arrived: Arrived[] = [];
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of incoming) {
      size += (chunk as Buffer).length;
      if (size > BODY_MAX) return void incoming.destroy();
      chunks.push(chunk as Buffer);
    }
    const body = Buffer.concat(chunks);
    const header = (name: string) => incoming.headers[name] as string | undefined;
    const nowSeconds = Math.trunc(realNowMs() / 1000);
    arrived.push({ isSigned: isSignedStandard(header, { body, secret, nowSeconds }), event: parsed(body.toString()) });
    response.writeHead(200).end();
  });
  await new Promise<void>((resolve) => server.listen(port, resolve));
  const ownUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;

  const send = (type: string, data: object, odd: Odd) => {
    const id = odd.id ?? `check-${randomUUID()}`;
    const body = JSON.stringify({ type, id, connection: 'provider-check', live: false, data });
    const nowSeconds = Math.trunc(realNowMs() / 1000) - (odd.ageSeconds ?? 0);
    return request(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...standardHeaders(odd.secret ?? secret, { id, nowSeconds, body }),
      },
      body: odd.otherBody ?? body,
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
    });
  };
  return {
    inboundUrl: inboundUrl ?? ownUrl,
    async post(type, data, odd = {}) {
      const { statusCode, body } = await send(type, data, odd);
      return { status: statusCode, body: parsed(await body.text()) };
    },
    async postAndLose(type, data, id) {
      const { body } = await send(type, data, { id });
      body.on('error', () => undefined).destroy();
    },
    async event(passes) {
      for (const until = realNowMs() + EVENT_WITHIN_MS; realNowMs() < until; await pause(POLL_MS)) {
        const found = arrived.find(({ event }) => passes(event));
        if (found) return found;
      }
      return undefined;
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function parsed(text: string): Loose {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
