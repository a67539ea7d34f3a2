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
  /** Pages on which something is paid, oldest first. */
  pages: { id: string; state: 'open' | 'paid' | 'expired'; data: Loose }[];
  /** The customer pays on an open page, at once or by a slow method, and its report follows when `report` is called. */
  payOn(page: FakeCustom['pages'][number]): { report: (status?: string) => Promise<number> };
  /** Sends an event; its status when it arrived. */
  tell(type: string, data: object): Promise<number>;
  close(): Promise<void>;
}

/**
 * The provider of docs/examples behind a server that can lose answers and give others. What a charge does is named by
 * its method: `pm_ok`, `pm_declined`, `pm_late` (202, and an event that follows). A page that was paid can no longer be
 * expired, and one that expired cannot be paid.
 */
export async function fakeCustom(serviceUrl: string): Promise<FakeCustom> {
  const { createProvider } = await import(EXAMPLE);
  const lost: string[] = [];
  const forced: { type: string; status: number; body?: object; headers?: Record<string, string> }[] = [];
  const posts: FakeCustom['posts'] = [];
  const pages: FakeCustom['pages'] = [];
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

  function follow(type: string, data: Loose, answer: { status: number; body?: Loose }) {
    if (type === 'payment_page.create' && answer.status === 200 && !pages.some(({ id }) => id === answer.body.id))
      pages.push({ id: answer.body.id, state: 'open', data });
    const page = type === 'page.expire' && answer.status === 200 && pages.find(({ id }) => id === data.id);
    if (!page) return answer;
    if (page.state === 'paid') return { status: 422, body: { error: { code: 'page_paid', message: 'It was paid.' } } };
    page.state = 'expired';
    return answer;
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const { type, data } = JSON.parse(body);
    posts.push(JSON.parse(body));
    const other = take(forced, (each) => each.type === type);
    const answer = follow(type, data, other ?? provider.answer(request.headers, body));
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
    pages,
    payOn(page) {
      if (page.state !== 'open') throw new Error(`The page is ${page.state}.`);
      page.state = 'paid';
      const { amount, currency, metadata } = page.data;
      const paid = { id: `pay_on_${page.id}`, amount, currency, metadata };
      return { report: (status = 'succeeded') => provider.tell('payment.updated', { ...paid, status }) };
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
