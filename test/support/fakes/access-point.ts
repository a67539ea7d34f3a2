import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

// biome-ignore lint/suspicious/noExplicitAny: objects of an access point, as far as tests look into them
type Loose = any;

export interface FakeAccessPoint {
  url: string;
  secret: string;
  /** Operations in the order in which they came, refused ones too. */
  posts: { type: string; id: string; data: Loose }[];
  /** What it took, by the id under which it was sent. */
  documents: Map<string, { id: string; data: Loose; status: string; reason?: object }>;
  /** Addresses that nobody has. */
  unknown: Set<string>;
  /** Profiles that no receiver takes. */
  refusedProfiles: Set<string>;
  /** The next operation of a type is done, but its answer is lost. */
  loseNext(type: string): void;
  /** The next call of any type is one too many. */
  tooManyNext(): void;
  /** It no longer accepts the secret. */
  forgetSecret(): void;
  close(): Promise<void>;
}

/**
 * An access point that speaks our protocol, and refuses what a real one refuses: a signature of another secret, an
 * address that nobody has, a profile that its receiver does not take, a content that is not what its checksum says,
 * another content under an id that it knows, an unknown document, and one call too many. A document that it knows is
 * taken once, however often it is sent.
 */
export async function fakeAccessPoint(): Promise<FakeAccessPoint> {
  const posts: FakeAccessPoint['posts'] = [];
  const documents: FakeAccessPoint['documents'] = new Map();
  const unknown = new Set<string>();
  const refusedProfiles = new Set<string>();
  const lost: string[] = [];
  let tooMany = 0;
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  let accepted = secret;

  const refused = (code: string, status = 422) => ({ status, body: { error: { code, message: `It is ${code}.` } } });

  function answer(type: string, id: string, data: Loose): { status: number; body?: object; headers?: object } {
    if (type === 'check') return { status: 200, body: {} };
    if (type === 'participant.lookup') return { status: 200, body: { reachable: !unknown.has(data.receiver.id) } };
    if (type === 'document.read') {
      const found = [...documents.values()].find((each) => each.id === data.id);
      return found ? { status: 200, body: { status: found.status, reason: found.reason ?? null } } : refused('unknown');
    }
    if (type !== 'document.send') return refused('unknown_operation');
    const bytes = Buffer.from(data.content, 'base64');
    if (createHash('sha256').update(bytes).digest('hex') !== data.sha256) return refused('damaged');
    if (unknown.has(data.receiver.id)) return refused('unknown_receiver');
    if (refusedProfiles.has(data.profile)) return refused('profile_not_supported');
    const known = documents.get(id);
    if (known)
      return known.data.sha256 === data.sha256 ? { status: 200, body: { id: known.id } } : refused('known', 409);
    const taken = { id: `ap_${documents.size + 1}_${randomBytes(4).toString('hex')}`, data, status: 'sent' };
    documents.set(id, taken);
    return { status: 202, body: { id: taken.id } };
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const { type, id, data } = JSON.parse(text);
    posts.push({ type, id, data });
    let said: ReturnType<typeof answer>;
    try {
      new Webhook(accepted).verify(text, request.headers as Record<string, string>);
      said = request.headers['webhook-id'] === id ? answer(type, id, data) : refused('other_id');
    } catch {
      said = { status: 401 };
    }
    if (tooMany > 0) said = { status: 429, headers: { 'retry-after': '1' } };
    tooMany = Math.max(0, tooMany - 1);
    const place = lost.indexOf(type);
    if (place >= 0) {
      lost.splice(place, 1);
      return void request.socket.destroy();
    }
    response
      .writeHead(said.status, { 'content-type': 'application/json', ...said.headers })
      .end(JSON.stringify(said.body ?? {}));
  }

  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    secret,
    posts,
    documents,
    unknown,
    refusedProfiles,
    loseNext: (type) => void lost.push(type),
    tooManyNext: () => {
      tooMany = 1;
    },
    forgetSecret: () => {
      accepted = `whsec_${randomBytes(32).toString('base64')}`;
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
