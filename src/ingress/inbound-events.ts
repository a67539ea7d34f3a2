import { type Express, default as express, type Request, type Response } from 'express';
import type { Store } from 'express-rate-limit';
import { holdClock } from '../platform/clock/organization-clock.ts';
import { realNow } from '../platform/clock/real-clock.ts';
import { isUuid } from '../platform/ids.ts';
import { isSignedBySandbox, isSignedByStripe } from '../platform/payments/signatures.ts';
import { nudge } from '../platform/records/nudge.ts';
import { type SystemDeps, systemTransaction } from '../platform/records/system-transaction.ts';
import { storeInboundEvent } from '../resources/inbound-events/store.ts';
import { listProvidersOfType, type ProviderRow } from '../resources/payment-providers/queries.ts';
import { readSecret } from '../resources/payment-providers/secrets.ts';

const BODY_MAX = '1mb';
/** Signed events of a connection in a second; its provider sends the others again. */
const EVENTS_PER_SECOND = 50;

/**
 * What payment providers tell us: `POST /webhooks/{provider}/{organization_id}?code=`, at the root and without a key; the
 * signature is the key. An event is stored, answered with 200, then handled by a step. Whatever is not right: 400 and
 * nothing more; too many signed ones: 429. Unsigned ones are not counted, lest somebody keeps the provider out.
 *
 * Rule: beyond 13.2.
 */
export function mountInboundEvents(app: Express, deps: SystemDeps, windows: Pick<Store, 'increment'>): void {
  app.post(
    '/webhooks/:provider/:organization_id',
    express.raw({ type: () => true, limit: BODY_MAX }),
    async (request: Request, response: Response) => {
      const status = await take(deps, windows, request).catch((error: unknown) => {
        deps.log.error({ err: error }, 'an event of a payment provider could not be stored');
        return 503;
      });
      response.status(status).end();
    },
  );
}

async function take(deps: SystemDeps, windows: Pick<Store, 'increment'>, request: Request): Promise<200 | 400 | 429> {
  const { provider: type, organization_id: organizationId } = request.params as Record<string, string>;
  if (!isUuid(organizationId!) || !Buffer.isBuffer(request.body)) return 400;
  const body = request.body.toString('utf8');
  const code = new URLSearchParams(request.originalUrl.split('?')[1] ?? '').get('code');
  const [connection, another] = await listProvidersOfType(deps.sql, organizationId!, type!, code);
  if (!connection || another) return 400;
  const isSignedEvent = await isSigned(deps, connection, request, body);
  const { totalHits } = await windows.increment(isSignedEvent ? connection.id : `${connection.id}:unsigned`);
  if (!isSignedEvent) {
    if (totalHits === 1)
      deps.log.warn({ organizationId, connectionId: connection.id, ip: request.ip }, 'an inbound event was not signed');
    return 400;
  }
  if (totalHits > EVENTS_PER_SECOND) return 429;
  const event = parsed(body);
  if (!event) return 400;
  const nudges = await systemTransaction(
    deps,
    { id: organizationId!, sandbox: connection.sandbox },
    async (tx) => (connection.sandbox ? (await holdClock(tx, organizationId!))?.frozen_time : undefined) ?? realNow(),
    async (ctx) => {
      await storeInboundEvent(ctx, { connectionId: connection.id, ...event });
    },
  );
  if (nudges) await nudge(deps.producer, organizationId!, nudges);
  return 200;
}

async function isSigned(deps: SystemDeps, connection: ProviderRow, request: Request, body: string): Promise<boolean> {
  const isStripe = connection.provider_type === 'stripe';
  const header = request.header(isStripe ? 'stripe-signature' : 'x-sandbox-signature') ?? '';
  const holder = { db: deps.sql, config: deps.config };
  const secret = await readSecret(holder, connection, isStripe ? 'inbound_secret' : 'webhook_secret');
  if (secret === undefined) return false;
  if (!isStripe) return isSignedBySandbox(body, header, secret);
  return isSignedByStripe(body, header, secret, Math.trunc(realNow().epochMilliseconds / 1000));
}

function parsed(body: string): { providerEventId: string; type: string; payload: object } | undefined {
  try {
    const event = JSON.parse(body) as { id?: unknown; type?: unknown };
    if (typeof event.id !== 'string' || typeof event.type !== 'string') return undefined;
    return { providerEventId: event.id.slice(0, 255), type: event.type.slice(0, 255), payload: event };
  } catch {
    return undefined;
  }
}
