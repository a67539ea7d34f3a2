import { type Express, default as express, type Request, type RequestHandler, type Response } from 'express';
import { listAccessPoints } from '../areas/customers/integrations/queries.ts';
import { readSharedSecret } from '../areas/customers/integrations/secrets.ts';
import { listProvidersOfType } from '../areas/customers/payment-providers/queries.ts';
import { readSecret } from '../areas/customers/payment-providers/secrets.ts';
import { hearReport } from '../areas/documents/e-documents/transmissions/hear-report.ts';
import { storeInboundEvent } from '../areas/payments/inbound-events/store-inbound-event.ts';
import { holdOrganizationNow } from '../platform/clock/organization-clock.ts';
import { realNow } from '../platform/clock/real-clock.ts';
import type { Context } from '../platform/context.ts';
import type { Scope } from '../platform/db/scope.ts';
import { type IntegrationId, isUuid } from '../platform/ids.ts';
import type { Log } from '../platform/log/log.ts';
import { type Inbound, oneEventABody, type ProviderDescriptor } from '../platform/payments/descriptor.ts';
import { descriptorOf } from '../platform/payments/providers.ts';
import { isSignedStandard } from '../platform/payments/standard-webhooks.ts';
import type { SystemDeps } from '../platform/records/system-transaction.ts';
import { transact } from '../platform/records/transact.ts';
import { Refusal } from '../platform/refusal.ts';
import { isStorable } from '../platform/schema/storable.ts';
import { FairGate } from './fair-gate.ts';
import { NOT_UNDERSTOOD, readProviderEvents, type ToldEvent } from './provider-event.ts';
import { addressOf } from './rate-limit.ts';
import type { WindowStore } from './window-store.ts';

const BODY_MAX = '1mb';
/** How many signed events of a connection are taken in one second; its provider repeats refused ones. */
const EVENTS_PER_SECOND = 50;
/**
 * How many events of an organization are checked at the same time, and how many may wait, so that it takes no more of
 * the connections.
 */
const AT_ONCE = 4;
const WAITING = 100;

/** The place of events of access points, where providers have the name of their type. */
const ACCESS_POINT = 'e_invoicing';

/** A request as it was signed. */
interface SignedMessage {
  body: Buffer;
  header: (name: string) => string | undefined;
  nowSeconds: number;
}

/** A connection whose signed events are taken. */
interface Signer {
  id: string;
  sandbox: boolean;
  /** Whether the address of the request is its own. */
  isAddressed: boolean;
  /** Whether it was not deleted. */
  isLive: boolean;
  isSigned(message: SignedMessage): Promise<boolean>;
  eventsIn: Inbound['eventsIn'];
  /**
   * @param signedBy ids of all connections whose secret signs it, this one first
   * @returns whether it was understood
   */
  take(ctx: Context, event: ToldEvent, signedBy: readonly string[]): Promise<boolean>;
}

/** Counts of the current second; `seen` as far as this process knows them. */
type Windows = Pick<WindowStore, 'increment' | 'seen'>;

/**
 * Receives events of payment providers and access points: `POST /webhooks/{provider}/{organization_id}?code=`, at the
 * root and without a key; the signature is the key. A signed event is stored, answered with 200 and then handled by a
 * step (that of an access point is handled at once); too many get 429. An unsigned one gets 400 and nothing else.
 *
 * Calls for an unknown connection count for their address, unsigned ones for their address and organization: a provider
 * uses the same addresses for all its customers, so one wrong secret must not block other events. Over the limit of
 * calls without a key: 429, before the body is read or anything is looked up.
 *
 * Rule: provider-connections.md#inbound-events, rate-limits.md#unauthenticated-calls.
 */
export function mountInboundEvents(app: Express, deps: SystemDeps, windows: Windows): void {
  const limit = deps.config.RATE_LIMIT_UNAUTHENTICATED;
  const gate = new FairGate({ perKey: AT_ONCE, waitingPerKey: WAITING });
  const isOver = (request: Request): boolean =>
    windows.seen(addressOf(request)) > limit || windows.seen(unsignedOf(request)) > limit;
  const refuseOver: RequestHandler = (request, response, next) => {
    if (!isOver(request)) return next();
    // The body is not read, so the connection cannot carry another request.
    answer(response.setHeader('Connection', 'close'), 429);
  };
  app.post(
    '/webhooks/:provider/:organization_id',
    refuseOver,
    express.raw({ type: () => true, limit: BODY_MAX }),
    async (request: Request, response: Response) => {
      // Checked again, because many may have waited while others from their address were refused.
      const work = async () => (isOver(request) ? 429 : take(deps, windows, request));
      const verdict = await gate.run(String(request.params.organization_id), work).catch((error: unknown) => {
        if (!(error instanceof Refusal)) logFailure(deps.log, error);
        return 503 as const;
      });
      if (typeof verdict === 'number') return answer(response, verdict, descriptorOf(String(request.params.provider)));
      const counted = verdict === 'unsigned' ? unsignedOf(request) : addressOf(request);
      const { totalHits } = await windows.increment(counted);
      answer(response, totalHits > limit ? 429 : 400);
    },
  );
}

const unsignedOf = (request: Request): string => `${addressOf(request)}:${request.params.organization_id}`;

const logFailure = (log: Log, error: unknown): void =>
  log.error({ err: error }, 'an event of a payment provider could not be stored');

function answer(response: Response, status: 200 | 400 | 429 | 503, provider?: ProviderDescriptor): void {
  if (status === 429 || status === 503) response.setHeader('Retry-After', '1');
  const body = status === 200 ? provider?.inbound.accepted : undefined;
  if (body === undefined) response.status(status).end();
  else response.status(status).type('text/plain').end(body);
}

async function take(
  deps: SystemDeps,
  windows: Windows,
  request: Request,
): Promise<200 | 400 | 429 | 'unknown' | 'unsigned'> {
  const { provider: type, organization_id: organizationId } = request.params as Record<string, string>;
  if (!isUuid(organizationId!) || !isStorable(type!) || !Buffer.isBuffer(request.body)) return 'unknown';
  const body = request.body;
  const code = new URLSearchParams(request.originalUrl.split('?')[1] ?? '').get('code');
  if (code !== null && !isStorable(code)) return 'unknown';
  const scope = { db: deps.sql, organizationId: organizationId! };
  const known =
    type === ACCESS_POINT
      ? await listAccessPointSigners(deps, scope, code)
      : await listProviderSigners(deps, scope, { type: type!, code });
  const signers = known.filter(({ isAddressed }) => isAddressed);
  if (signers.length === 0 || signers[1]?.isLive) return 'unknown';
  const message = { body, header: (name: string) => request.header(name), nowSeconds: nowInSeconds() };
  const signer = await signerOf(signers, message);
  if (!signer) {
    if (windows.seen(unsignedOf(request)) === 0)
      deps.log.warn({ organization_id: organizationId, type, code, ip: request.ip }, 'an inbound event was not signed');
    return 'unsigned';
  }
  const { totalHits } = await windows.increment(signer.id);
  if (totalHits > EVENTS_PER_SECOND) return 429;
  const signedBy = await listSigners(known, { signer, message });
  const events = readProviderEvents(body.toString('utf8'), signer.eventsIn);
  let areUnderstood = true;
  await transact(
    deps,
    { id: organizationId!, sandbox: signer.sandbox },
    (tx) => holdOrganizationNow({ db: tx, organizationId: organizationId! }, signer.sandbox),
    async (ctx) => {
      for (const event of events) areUnderstood = (await signer.take(ctx, event, signedBy)) && areUnderstood;
    },
  );
  return areUnderstood ? 200 : 400;
}

const nowInSeconds = (): number => Math.trunc(realNow().epochMilliseconds / 1000);

/**
 * The signature decides whose event it is, because a deleted connection and a new one of its code share their address.
 */
async function signerOf(signers: readonly Signer[], message: SignedMessage): Promise<Signer | undefined> {
  for (const signer of signers) if (await signer.isSigned(message)) return signer;
  return undefined;
}

/** Ids of the connections with the secret of the one that signed: the same account, connected anew. */
async function listSigners(
  known: readonly Signer[],
  { signer, message }: { signer: Signer; message: SignedMessage },
): Promise<string[]> {
  const ids = [signer.id];
  for (const other of known) if (other !== signer && (await other.isSigned(message))) ids.push(other.id);
  return ids;
}

/** Connections to payment providers: their events are stored before they are handled, unreadable ones too. */
async function listProviderSigners(
  deps: SystemDeps,
  scope: Scope,
  { type, code }: { type: string; code: string | null },
): Promise<Signer[]> {
  const inbound = descriptorOf(type)?.inbound;
  if (!inbound) return [];
  const connections = await listProvidersOfType(scope, type, { code, now: realNow() });
  return connections.map((connection) => ({
    id: connection.id,
    sandbox: connection.sandbox,
    isAddressed: true,
    isLive: connection.deleted_at === null,
    eventsIn: inbound.eventsIn,
    async isSigned(message) {
      const secret = await readSecret({ db: deps.sql, config: deps.config }, connection, inbound.secret);
      return secret !== undefined && inbound.isSigned({ ...message, secret });
    },
    async take(ctx, event, [, ...alsoSignedBy]) {
      await storeInboundEvent(ctx, { connectionId: connection.id, alsoSignedBy, ...event });
      return true;
    },
  }));
}

/** Connections to access points: what they say about a document is taken at once. Rule: e-documents.md#sending. */
async function listAccessPointSigners(deps: SystemDeps, scope: Scope, code: string | null): Promise<Signer[]> {
  const connections = await listAccessPoints(scope, code);
  return connections.map((connection) => ({
    id: connection.id,
    sandbox: connection.sandbox,
    isAddressed: code === null || connection.code === code,
    isLive: connection.deleted_at === null,
    eventsIn: oneEventABody,
    async isSigned({ header, ...message }) {
      const secret = await readSharedSecret({ db: deps.sql, config: deps.config }, connection);
      return secret !== undefined && isSignedStandard(header, { ...message, secret });
    },
    take: async (ctx, event, signedBy) =>
      event.type !== NOT_UNDERSTOOD && hearReport(ctx, signedBy as IntegrationId[], event),
  }));
}
