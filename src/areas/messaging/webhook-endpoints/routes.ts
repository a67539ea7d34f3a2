import type { Operation } from '../../../platform/operation.ts';
import {
  createWebhookEndpoint,
  deleteWebhookEndpoint,
  rotateWebhookSecret,
  updateWebhookEndpoint,
} from './commands.ts';
import { showWebhookEndpointHealth } from './health.ts';
import { showWebhookEndpoint, showWebhookEndpoints } from './reads.ts';
import {
  SecretRotation,
  WebhookEndpointCreate,
  WebhookEndpointEnvelope,
  WebhookEndpointHealth,
  WebhookEndpointHealthQuery,
  WebhookEndpointList,
  WebhookEndpointListQuery,
  WebhookEndpointSecretEnvelope,
  WebhookEndpointUpdate,
} from './schema.ts';

const common = { permission: 'webhook_endpoint', tag: 'webhook_endpoints', answer: WebhookEndpointEnvelope } as const;

const update = {
  ...common,
  path: '/webhook_endpoints/:svc_id',
  summary: 'Change a webhook endpoint',
  kind: 'command',
  root: 'webhook_endpoint',
  body: WebhookEndpointUpdate,
  run: updateWebhookEndpoint,
} as const;

export const webhookEndpointOperations: Operation[] = [
  {
    ...common,
    name: 'createWebhookEndpoint',
    revealsSecret: true,
    method: 'post',
    path: '/webhook_endpoints',
    summary: 'Register a webhook endpoint',
    description:
      'Events are posted to it signed, and repeated for about a day until it answers. Its `secret` is in this answer alone. Addresses in private networks are refused.',
    kind: 'command',
    root: 'webhook_endpoint',
    body: WebhookEndpointCreate,
    answer: WebhookEndpointSecretEnvelope,
    run: createWebhookEndpoint,
  },
  {
    ...common,
    name: 'findAllWebhookEndpoints',
    method: 'get',
    path: '/webhook_endpoints',
    summary: 'List webhook endpoints',
    kind: 'read',
    query: WebhookEndpointListQuery,
    answer: WebhookEndpointList,
    run: showWebhookEndpoints,
  },
  {
    ...common,
    name: 'findWebhookEndpoint',
    method: 'get',
    path: '/webhook_endpoints/:svc_id',
    summary: 'Retrieve a webhook endpoint',
    kind: 'read',
    run: showWebhookEndpoint,
  },
  {
    ...common,
    name: 'findWebhookEndpointHealth',
    method: 'get',
    path: '/webhook_endpoints/:svc_id/health',
    summary: 'How well a webhook endpoint has answered, by hour',
    kind: 'read',
    query: WebhookEndpointHealthQuery,
    answer: WebhookEndpointHealth,
    run: showWebhookEndpointHealth,
  },
  { ...update, name: 'updateWebhookEndpoint', method: 'put' },
  { ...update, name: 'patchWebhookEndpoint', method: 'patch', hidden: true },
  {
    ...common,
    name: 'destroyWebhookEndpoint',
    method: 'delete',
    path: '/webhook_endpoints/:svc_id',
    summary: 'Remove a webhook endpoint and its deliveries',
    kind: 'command',
    run: deleteWebhookEndpoint,
  },
  {
    ...common,
    name: 'rotateWebhookEndpointSecret',
    revealsSecret: true,
    method: 'post',
    path: '/webhook_endpoints/:svc_id/rotate_secret',
    summary: 'Give a webhook endpoint a new secret',
    kind: 'command',
    bodyOptional: true,
    body: SecretRotation,
    answer: WebhookEndpointSecretEnvelope,
    run: rotateWebhookSecret,
  },
];
