import type { Operation } from '../../../platform/operation.ts';
import { SecretRotation } from '../webhook-endpoints/schema.ts';
import { retryDelivery, rotateHmacKey, sendTestEvent } from './commands.ts';
import {
  settleTestEvent,
  showDeliveries,
  showDelivery,
  showHmacKey,
  showJsonPublicKey,
  showPublicKey,
} from './reads.ts';
import { replayWebhooks } from './replay.ts';
import {
  DeliveryEnvelope,
  DeliveryList,
  DeliveryListQuery,
  HmacKeyEnvelope,
  PublicKeyEnvelope,
  PublicKeyText,
  ReplayEnvelope,
  ReplayInput,
} from './schema.ts';

const keys = { permission: 'webhook_jwt_public_key', tag: 'webhooks', method: 'get', kind: 'read' } as const;
const deliveries = { permission: 'webhook_endpoint', tag: 'webhooks' } as const;

/** Keys stand before `/webhooks/:svc_id`, which would take their names for ids. */
export const webhookOperations: Operation[] = [
  {
    ...keys,
    name: 'fetchJsonPublicKey',
    path: '/webhooks/json_public_key',
    summary: 'Retrieve the public keys of the jwt signature',
    answer: PublicKeyEnvelope,
    run: showJsonPublicKey,
  },
  {
    ...keys,
    name: 'fetchPublicKey',
    path: '/webhooks/public_key',
    summary: 'Retrieve the public key of the jwt signature as text (deprecated)',
    answer: PublicKeyText,
    run: showPublicKey,
  },
  {
    ...keys,
    name: 'fetchHmacKey',
    permission: 'webhook_endpoint',
    mode: 'write',
    path: '/webhooks/hmac_key',
    summary: 'Retrieve the secret of the hmac signature',
    answer: HmacKeyEnvelope,
    run: showHmacKey,
  },
  {
    ...deliveries,
    name: 'rotateHmacKey',
    revealsSecret: true,
    method: 'post',
    path: '/webhooks/hmac_key/rotate',
    summary: 'Give the hmac signature a new secret',
    kind: 'command',
    bodyOptional: true,
    body: SecretRotation,
    answer: HmacKeyEnvelope,
    run: rotateHmacKey,
  },
  {
    ...deliveries,
    name: 'findWebhook',
    method: 'get',
    path: '/webhooks/:svc_id',
    summary: 'Retrieve a delivery',
    kind: 'read',
    answer: DeliveryEnvelope,
    run: showDelivery,
  },
  {
    ...deliveries,
    name: 'retryWebhook',
    method: 'post',
    path: '/webhooks/:svc_id/retry',
    summary: 'Deliver again',
    kind: 'command',
    bodyOptional: true,
    answer: DeliveryEnvelope,
    run: retryDelivery,
  },
  {
    ...deliveries,
    name: 'findAllWebhooks',
    method: 'get',
    path: '/webhook_endpoints/:svc_id/webhooks',
    summary: 'List the deliveries to a webhook endpoint',
    kind: 'read',
    query: DeliveryListQuery,
    answer: DeliveryList,
    run: showDeliveries,
  },
  {
    ...deliveries,
    name: 'testWebhookEndpoint',
    method: 'post',
    path: '/webhook_endpoints/:svc_id/test',
    summary: 'Send a test event to a webhook endpoint',
    kind: 'command',
    bodyOptional: true,
    answer: DeliveryEnvelope,
    run: sendTestEvent,
    settle: settleTestEvent,
  },
  {
    ...deliveries,
    name: 'replayWebhooks',
    method: 'post',
    path: '/webhook_endpoints/:svc_id/replay',
    summary: 'Deliver events of the past to a webhook endpoint',
    kind: 'command',
    bodyOptional: true,
    body: ReplayInput,
    answer: ReplayEnvelope,
    run: replayWebhooks,
  },
];
