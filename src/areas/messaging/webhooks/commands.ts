import { randomUUID } from 'node:crypto';
import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import type { WebhookDeliveryId, WebhookEndpointId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { seconds } from '../../../platform/schema/view.ts';
import { getWebhookEndpoint } from '../webhook-endpoints/queries.ts';
import type { SecretRotation } from '../webhook-endpoints/schema.ts';
import { webhookEndpointView } from '../webhook-endpoints/view.ts';
import { getDelivery, getHmacKey, lockDelivery } from './queries.ts';
import { deliveryView, hmacKeyView } from './view.ts';
import { insertDirectedEvent, replaceHmacKey, restartDelivery, TEST_TYPE } from './writes.ts';

const ENDPOINT_OBJECT = 'webhook_endpoint';
const OVERLAP_HOURS = 24;

/**
 * Puts a delivery back to its first attempt.
 *
 * @throws Refusal 404 webhook
 * @throws Refusal 405 is_succeeded
 */
export async function retryDelivery(ctx: Context, { svc_id }: { svc_id: string }) {
  const delivery = await lockDelivery(ctx, svc_id);
  if (delivery.status === 'succeeded') throw refuse.notAllowed('is_succeeded');
  await restartDelivery(ctx, delivery.id, realNow());
  nudge(ctx, delivery.webhook_endpoint_id, delivery.id);
  return { webhook: deliveryView(await getDelivery(ctx, delivery.id)) };
}

/**
 * Sends a test event to an endpoint, also to a disabled one, with a single attempt. The operation answers with the
 * outcome, see `settleTestEvent`.
 *
 * @throws Refusal 404 webhook_endpoint
 */
export async function sendTestEvent(ctx: Context, { svc_id }: { svc_id: string }) {
  const endpoint = await getWebhookEndpoint(ctx, svc_id);
  const deliveryId = newId();
  const payload = {
    webhook_type: TEST_TYPE,
    object_type: ENDPOINT_OBJECT,
    organization_id: ctx.organizationId,
    [ENDPOINT_OBJECT]: webhookEndpointView(endpoint),
  };
  const event = {
    id: newId(),
    delivery_id: deliveryId,
    organization_id: ctx.organizationId,
    webhook_endpoint_id: endpoint.id,
    webhook_url: endpoint.webhook_url,
    webhook_type: TEST_TYPE,
    object_type: ENDPOINT_OBJECT,
    payload: JSON.stringify(payload),
    occurred_at: ctx.now(),
  };
  await insertDirectedEvent(ctx.db, event, realNow());
  nudge(ctx, endpoint.id, deliveryId);
  return { webhook: deliveryView(await getDelivery(ctx, deliveryId)) };
}

/**
 * Gives the organization a new secret of the `hmac` signature. The former one goes on signing for `expires_in_hours`,
 * in which receivers learn the new one. Rule: webhooks.md#delivery "secret rotation".
 */
export async function rotateHmacKey(ctx: Context, { body }: { body?: SecretRotation }) {
  const formerUntil = realNow().add({ hours: body?.expires_in_hours ?? OVERLAP_HOURS });
  await replaceHmacKey(ctx, ctx.organizationId, randomUUID(), formerUntil);
  // The secret signs for every endpoint: its rotation is logged as a change of endpoints (logs.md#security-logs).
  ctx.record({
    security: {
      event: 'webhook_endpoint.updated',
      resources: { rotated: 'hmac_key', former_expires_at: seconds(formerUntil) },
    },
  });
  return { webhook: hmacKeyView(await getHmacKey(ctx, ctx.organizationId)) };
}

// The delivery's own row owes the work; the sweeper of deliveries makes up for a lost job.
const nudge = (ctx: Context, endpointId: WebhookEndpointId, deliveryId: WebhookDeliveryId): void =>
  ctx.after({
    nudge: 'webhook.deliver',
    payload: { webhook_endpoint_id: endpointId, delivery_ids: [deliveryId] },
  });
