import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { projectRoot } from '../../../src/platform/project-root.ts';

// biome-ignore lint/suspicious/noExplicitAny: objects of a provider, as far as tests look into them
type Loose = any;

const EXAMPLE = pathToFileURL(join(projectRoot(), 'docs/examples/custom-provider.mjs')).href;

export interface FakeCustom {
  url: string;
  /** The secret that it was started with; `adopt` gives it another one. */
  secret: string;
  /** What was posted, oldest first, refused calls too. */
  posts: { id: string; type: string; live: boolean; connection: string; data: Loose }[];
  payments: Map<string, Loose>;
  refunds: Map<string, Loose>;
  /** Begins anew with a secret that somebody else made. */
  adopt(secret: string): void;
  /** The next operation of a type is done, but its answer is lost. */
  loseNext(type: string): void;
  /** The next operation of a type is not done: this is answered. */
  answerNext(type: string, answer: { status: number; body?: object; headers?: Record<string, string> }): void;
  /** Sends an event; its status when it arrived. */
  tell(type: string, data: object): Promise<number>;
  close(): Promise<void>;
}

/**
 * The provider of docs/examples behind a server that can lose answers and give others. What a charge does is named by
 * its method: `pm_ok`, `pm_declined`, `pm_late` (202, and an event that follows).
 */
export async function fakeCustom(serviceUrl: string): Promise<FakeCustom> {
  const { createProvider } = await import(EXAMPLE);
  const lost: string[] = [];
  const forced: { type: string; status: number; body?: object; headers?: Record<string, string> }[] = [];
  const posts: FakeCustom['posts'] = [];
  let [secret, provider]: [string, Loose] = ['', undefined];
  // The service names the address at which it would be reached; in a test it listens on a port of its own.
  const send = (url: string, init: RequestInit) => {
    const { pathname, search } = new URL(url);
    return fetch(`${serviceUrl}${pathname}${search}`, init);
  };
  const adopt = (given: string) => {
    secret = given;
    forced.length = 0;
    provider = createProvider({ secret, send });
  };
  adopt(`whsec_${randomBytes(32).toString('base64')}`);

  const take = <Item>(items: Item[], passes: (item: Item) => boolean): Item | undefined => {
    const place = items.findIndex(passes);
    return place < 0 ? undefined : items.splice(place, 1)[0];
  };

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const { type } = JSON.parse(body);
    posts.push(JSON.parse(body));
    const other = take(forced, (each) => each.type === type);
    const answer = other ?? provider.answer(request.headers, body);
    if (take(lost, (each) => each === type) !== undefined) return void request.socket.destroy();
    const headers = { 'content-type': 'application/json', ...other?.headers };
    response.writeHead(answer.status, headers).end(JSON.stringify(answer.body ?? {}));
  }

  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    get secret() {
      return secret;
    },
    posts,
    get payments() {
      return provider.payments;
    },
    get refunds() {
      return provider.refunds;
    },
    adopt,
    loseNext: (type) => void lost.push(type),
    answerNext: (type, answer) => void forced.push({ type, ...answer }),
    tell: (type, data) => provider.tell(type, data),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
