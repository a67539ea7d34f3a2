import { setTimeout as wait } from 'node:timers/promises';
import type { Context } from '../../../platform/context.ts';
import { webhookPublicKeys } from '../../../platform/keys/deployment-keys.ts';
import { pageMeta } from '../../../platform/lists/pagination.ts';
import { Answer } from '../../../platform/operation.ts';
import { getWebhookEndpoint } from '../webhook-endpoints/queries.ts';
import { httpStatusFilter } from './http-statuses.ts';
import { getDelivery, getHmacKey, listDeliveries } from './queries.ts';
import type { DeliveryListQuery, DeliveryView } from './schema.ts';
import { deliveryView, hmacKeyView, wrappedPublicKey } from './view.ts';

const SETTLE_POLL_MS = 100;

/** @throws Refusal 404 webhook_endpoint */
export async function showDeliveries(ctx: Context, { svc_id, query }: { svc_id: string; query: DeliveryListQuery }) {
  const endpoint = await getWebhookEndpoint(ctx, svc_id);
  const filters = { ...query, http_statuses: query.http_statuses && httpStatusFilter(query.http_statuses) };
  const { rows, total } = await listDeliveries(ctx, endpoint.id, { filters, page: query });
  return { webhooks: rows.map(deliveryView), meta: pageMeta(query, total) };
}

/** @throws Refusal 404 webhook */
export async function showDelivery(ctx: Context, { svc_id }: { svc_id: string }) {
  return { webhook: deliveryView(await getDelivery(ctx, svc_id)) };
}

/**
 * Waits for the outcome of a test event up to the write timeout. With a slower receiver it stays `pending`; the
 * delivery log shows the outcome later.
 */
export async function settleTestEvent(ctx: Context, answer: { webhook: DeliveryView }) {
  let { webhook } = answer;
  const polls = (ctx.config.WRITE_TIMEOUT_SECONDS * 1000) / SETTLE_POLL_MS;
  for (let poll = 0; poll < polls && webhook.status === 'pending'; poll += 1) {
    await wait(SETTLE_POLL_MS);
    webhook = deliveryView(await getDelivery(ctx, webhook.svc_id));
  }
  return { webhook };
}

/**
 * Public keys of the `jwt` signature: the newest, and all that a receiver may still meet (webhooks.md#signatures,
 * webhooks.md#delivery).
 */
export async function showJsonPublicKey(ctx: Context) {
  const keys = (await webhookPublicKeys(ctx)).map(({ kid, pem }) => ({ kid, public_key: wrappedPublicKey(pem) }));
  return { webhook: { public_key: keys[0]!.public_key }, public_keys: keys };
}

/** The newest public key as plain text; deprecated in favour of the JSON one. */
export async function showPublicKey(ctx: Context) {
  const [newest] = await webhookPublicKeys(ctx);
  return new Answer(null, { text: wrappedPublicKey(newest!.pem) });
}

/** The secret of the `hmac` signature. */
export async function showHmacKey(ctx: Context) {
  return { webhook: hmacKeyView(await getHmacKey(ctx, ctx.organizationId)) };
}
