import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedHook {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** Milliseconds since the receiver was opened. */
  atMs: number;
}

/** What the receiver does with a request: answers a status, or whatever the function does. */
export type Reaction = number | ((response: ServerResponse, hook: ReceivedHook) => void);

export interface HookReceiver {
  url: string;
  /** Every request, in order of arrival. */
  hooks: ReceivedHook[];
  /** Greatest number of requests that were open at once. */
  mostAtOnce(): number;
  /** Reactions to the next requests, one each; afterwards the last one stays. */
  react(...reactions: Reaction[]): void;
  close(): Promise<void>;
}

/** A customer's receiver on this machine. It answers 200 unless told otherwise. */
export async function openHookReceiver(): Promise<HookReceiver> {
  const hooks: ReceivedHook[] = [];
  const opened = performance.now();
  let reactions: Reaction[] = [200];
  let open = 0;
  let most = 0;
  const server = createServer((request, response) => {
    open += 1;
    most = Math.max(most, open);
    response.on('close', () => {
      open -= 1;
    });
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const hook = { path: request.url ?? '', headers: request.headers, body, atMs: performance.now() - opened };
      hooks.push(hook);
      const reaction = reactions.length > 1 ? reactions.shift()! : reactions[0]!;
      if (typeof reaction === 'number') response.writeHead(reaction).end(`answered ${reaction}`);
      else reaction(response, hook);
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    hooks,
    mostAtOnce: () => most,
    react(...next) {
      reactions = next;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
