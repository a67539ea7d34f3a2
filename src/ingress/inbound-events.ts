import { type Express, default as express, type Request, type RequestHandler, type Response } from 'express';
import { listProvidersOfType, type ProviderRow } from '../areas/customers/payment-providers/queries.ts';
import { readSecret } from '../areas/customers/payment-providers/secrets.ts';
import { storeInboundEvent } from '../areas/payments/inbound-events/store-inbound-event.ts';
import { holdOrganizationNow } from '../platform/clock/organization-clock.ts';
import { realNow } from '../platform/clock/real-clock.ts';
import { isUuid } from '../platform/ids.ts';
import type { Log } from '../platform/log/log.ts';
import type { ProviderDescriptor } from '../platform/payments/descriptor.ts';
import { descriptorOf } from '../platform/payments/providers.ts';
import type { SystemDeps } from '../platform/records/system-transaction.ts';
import { transact } from '../platform/records/transact.ts';
import { Refusal } from '../platform/refusal.ts';
import { isStorable } from '../platform/schema/storable.ts';
import { FairGate } from './fair-gate.ts';
import { readProviderEvents } from './provider-event.ts';
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

/** Counts of the current second; `seen` as far as this process knows them. */
type Windows = Pick<WindowStore, 'increment' | 'seen'>;

/**
 * Receives events of payment providers: `POST /webhooks/{provider}/{organization_id}?code=`, at the root and without a
 * key; the signature is the key. A signed event is stored, answered with 200 and then handled by a step; too many get
 * 429. An unsigned one gets 400 and nothing else.
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

async function take(deps: SystemDeps, windows: Windows, request: Request): Promise<200 | 429 | 'unknown' | 'unsigned'> {
  const { provider: type, organization_id: organizationId } = request.params as Record<string, string>;
  if (!isUuid(organizationId!) || !isStorable(type!) || !Buffer.isBuffer(request.body)) return 'unknown';
  const body = request.body;
  const code = new URLSearchParams(request.originalUrl.split('?')[1] ?? '').get('code');
  if (code !== null && !isStorable(code)) return 'unknown';
  const connections = await listProvidersOfType({ db: deps.sql, organizationId: organizationId! }, type!, {
    code,
    now: realNow(),
  });
  if (connections.length === 0 || connections[1]?.deleted_at === null) return 'unknown';
  const connection = await signerOf(deps, connections, request, body);
  if (!connection) {
    if (windows.seen(unsignedOf(request)) === 0)
      deps.log.warn({ organization_id: organizationId, type, code, ip: request.ip }, 'an inbound event was not signed');
    return 'unsigned';
  }
  const { totalHits } = await windows.increment(connection.id);
  if (totalHits > EVENTS_PER_SECOND) return 429;
  const events = readProviderEvents(body.toString('utf8'), descriptorOf(connection.provider_type)!.inbound.eventsIn);
  await transact(
    deps,
    { id: organizationId!, sandbox: connection.sandbox },
    (tx) => holdOrganizationNow({ db: tx, organizationId: organizationId! }, connection.sandbox),
    async (ctx) => {
      for (const event of events) await storeInboundEvent(ctx, { connectionId: connection.id, ...event });
    },
  );
  return 200;
}

/**
 * The signature decides whose event it is, because a deleted connection and a new one of its code share their address.
 */
async function signerOf<Connection extends ProviderRow>(
  deps: SystemDeps,
  connections: readonly Connection[],
  request: Request,
  body: Buffer,
): Promise<Connection | undefined> {
  for (const connection of connections) if (await isSigned(deps, connection, request, body)) return connection;
  return undefined;
}

async function isSigned(deps: SystemDeps, connection: ProviderRow, request: Request, body: Buffer): Promise<boolean> {
  const inbound = descriptorOf(connection.provider_type)?.inbound;
  const secret = inbound && (await readSecret({ db: deps.sql, config: deps.config }, connection, inbound.secret));
  if (!inbound || secret === undefined) return false;
  const nowSeconds = Math.trunc(realNow().epochMilliseconds / 1000);
  return inbound.isSigned({ body, header: (name) => request.header(name), secret, nowSeconds });
}
