import { randomBytes } from 'node:crypto';
import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import { RefusedAddress, resolvesToPrivate, targetOf } from '../../../platform/http/addresses.ts';
import { newId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { endpointSecretPlace } from '../../../platform/secrets/secret-places.ts';
import { sealText } from '../../../platform/secrets/secrets.ts';
import { recordEndpoint } from './announce.ts';
import { countWebhookEndpoints, getWebhookEndpoint, lockWebhookEndpoint, type WebhookEndpointRow } from './queries.ts';
import {
  type SecretRotation,
  URL_IS_INVALID,
  type WebhookEndpointCreate,
  type WebhookEndpointUpdate,
} from './schema.ts';
import { webhookEndpointView } from './view.ts';
import {
  BY_OWNER,
  clearFailures,
  deleteWebhookEndpointRow,
  disableWebhookEndpoint,
  insertWebhookEndpoint,
  lockNumberOfEndpoints,
  replaceSecret,
  updateWebhookEndpointRow,
} from './writes.ts';

const ENDPOINTS_MAX = 10;
const SECRET_BYTES = 32;
const OVERLAP_HOURS = 24;

/**
 * Registers an endpoint. Its secret is in this answer and in no later one.
 *
 * @throws Refusal 422 webhook_url: url_is_invalid, for private addresses too; value_already_exist
 * @throws Refusal 422 base: exceeded_limit, for the eleventh
 */
export async function createWebhookEndpoint(ctx: Context, { body }: { body: WebhookEndpointCreate }) {
  await refusePrivateUrl(ctx, body.webhook_url);
  await lockNumberOfEndpoints(ctx);
  if ((await countWebhookEndpoints(ctx)) >= ENDPOINTS_MAX) throw refuse.invalid({ base: ['exceeded_limit'] });
  const disabled = body.enabled === false;
  const endpoint: WebhookEndpointRow = {
    id: newId(),
    organization_id: ctx.organizationId,
    webhook_url: body.webhook_url,
    name: body.name ?? null,
    signature_algo: body.signature_algo ?? 'jwt',
    event_types: body.event_types ?? null,
    status: disabled ? 'disabled' : 'enabled',
    disabled_at: disabled ? realNow() : null,
    disabled_reason: disabled ? BY_OWNER : null,
    created_at: ctx.now(),
  };
  const secret = newSecret();
  await insertWebhookEndpoint(ctx.db, endpoint, await sealText(ctx, secret, endpointSecretPlace(endpoint.id)));
  recordEndpoint(ctx, 'created', endpoint);
  return { webhook_endpoint: { ...webhookEndpointView(endpoint), secret } };
}

/**
 * Changes an endpoint. A new URL starts without the failures of the old one; `enabled: true` puts a disabled endpoint
 * back into service, `enabled: false` takes it out.
 *
 * @throws Refusal 404 webhook_endpoint
 * @throws Refusal 422 webhook_url: url_is_invalid, value_already_exist
 */
export async function updateWebhookEndpoint(
  ctx: Context,
  { svc_id, body }: { svc_id: string; body: WebhookEndpointUpdate },
) {
  const stored = await lockWebhookEndpoint(ctx, svc_id);
  const changed: WebhookEndpointRow = {
    ...stored,
    webhook_url: body.webhook_url ?? stored.webhook_url,
    name: body.name === undefined ? stored.name : body.name,
    signature_algo: body.signature_algo === undefined ? stored.signature_algo : (body.signature_algo ?? 'jwt'),
    event_types: body.event_types === undefined ? stored.event_types : body.event_types,
  };
  const moved = changed.webhook_url !== stored.webhook_url;
  if (moved) await refusePrivateUrl(ctx, changed.webhook_url);
  await updateWebhookEndpointRow(ctx.db, changed, ctx.now());
  if (body.enabled === false) {
    const stopped = { organizationId: ctx.organizationId, id: stored.id, reason: BY_OWNER, at: realNow() };
    await disableWebhookEndpoint(ctx.db, stopped);
  } else if (body.enabled || (moved && stored.status === 'enabled')) {
    await clearFailures(ctx, stored.id);
  }
  const saved = await getWebhookEndpoint(ctx, stored.id);
  recordEndpoint(ctx, 'updated', saved, stored);
  return { webhook_endpoint: webhookEndpointView(saved) };
}

/**
 * Removes an endpoint with its deliveries.
 *
 * @throws Refusal 404 webhook_endpoint
 */
export async function deleteWebhookEndpoint(ctx: Context, { svc_id }: { svc_id: string }) {
  const endpoint = await lockWebhookEndpoint(ctx, svc_id);
  await deleteWebhookEndpointRow(ctx, endpoint.id);
  recordEndpoint(ctx, 'deleted', endpoint);
  return { webhook_endpoint: webhookEndpointView(endpoint) };
}

/**
 * Gives an endpoint a new secret, shown in this answer only. The former one signs beside it for `expires_in_hours`
 * more.
 *
 * @throws Refusal 404 webhook_endpoint
 */
export async function rotateWebhookSecret(ctx: Context, { svc_id, body }: { svc_id: string; body?: SecretRotation }) {
  const endpoint = await lockWebhookEndpoint(ctx, svc_id);
  const secret = newSecret();
  const formerUntil = realNow().add({ hours: body?.expires_in_hours ?? OVERLAP_HOURS });
  const sealed = await sealText(ctx, secret, endpointSecretPlace(endpoint.id));
  await replaceSecret(ctx, endpoint.id, { sealedSecret: sealed, formerUntil });
  recordEndpoint(ctx, 'updated', endpoint, endpoint);
  return { webhook_endpoint: { ...webhookEndpointView(endpoint), secret } };
}

/** Secret of the Standard Webhooks signature (webhooks.md#delivery). */
const newSecret = (): string => `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;

const ALLOWED_BY = 'a service that runs with WEBHOOK_ALLOW_PRIVATE_NETWORKS=true takes it';

async function refusePrivateUrl(ctx: Context, url: string): Promise<void> {
  if (ctx.config.WEBHOOK_ALLOW_PRIVATE_NETWORKS) return;
  try {
    const { hostname } = targetOf(url, { allowPrivate: false });
    if (await resolvesToPrivate(hostname))
      throw new RefusedAddress(`${hostname} has an address that is not public`, { isPrivate: true });
  } catch (error) {
    if (!(error instanceof RefusedAddress)) throw error;
    // Whoever tries it on a machine of their own meets this first.
    const reason = error.isPrivate ? `${error.reason}; ${ALLOWED_BY}` : error.reason;
    const place = { field: 'webhook_url', code: URL_IS_INVALID, path: ['webhook_url'], reason };
    throw refuse.invalid({ webhook_url: [URL_IS_INVALID] }, [place]);
  }
}
