import { z } from 'zod';
import { WEBHOOK_TYPES } from '../areas/messaging/webhook-endpoints/event-types.ts';
import type { ProtocolOperation } from '../platform/payments/descriptor.ts';
import { PROVIDERS } from '../platform/payments/providers.ts';
import { NAMED_ONLY_WEBHOOK_TYPES } from '../platform/records/write-records.ts';
import { OTHER_PAYLOADS, WEBHOOK_WORDS } from './webhook-payloads.ts';

const json = (schema: object) => ({ 'application/json': { schema } });

const shapeOf = (schema: z.ZodType): object => {
  const { $schema: _, ...shape } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused: 'inline' });
  return shape;
};

const text = { type: 'string' };
const header = (name: string, description: string) => ({
  name,
  in: 'header',
  required: true,
  schema: text,
  description,
});

/** Headers of what endpoints receive. Rule: webhooks.md#signatures. */
const RECEIVED = [
  header('X-Svc-Signature', 'Proof that we sent it, of the raw body, by the algorithm of the endpoint'),
  header('X-Svc-Signature-Algorithm', '`hmac` or `jwt`'),
  header('X-Svc-Unique-Key', 'The same at every attempt: what was handled once need not be handled again'),
  header('X-Svc-Sequence', 'Number of the event in the organization’s feed'),
];

/**
 * What we post to endpoints, as OpenAPI 3.1 `webhooks`: every type with its payload.
 *
 * payloadOf  schema of the record of the API of this name; undefined if there is none
 */
export function eventWebhooks(payloadOf: (root: string) => object | undefined): Record<string, object> {
  const types = [...WEBHOOK_TYPES, ...NAMED_ONLY_WEBHOOK_TYPES];
  return Object.fromEntries(
    types.map((type) => {
      const [root, sent] = WEBHOOK_WORDS[type] ?? [
        type.split('.')[0]!,
        `The state of ${type.split('.')[0]} has changed`,
      ];
      const payload = OTHER_PAYLOADS[root] ?? payloadOf(root) ?? { type: 'object', additionalProperties: true };
      return [type, { post: eventOf(type, { root, sent, payload }) }];
    }),
  );
}

function eventOf(type: string, { root, sent, payload }: { root: string; sent: string; payload: object }): object {
  const isNamedOnly = NAMED_ONLY_WEBHOOK_TYPES.includes(type);
  return {
    operationId: `event.${type}`,
    summary: sent,
    description: `${sent}.${isNamedOnly ? ' Only endpoints that name this type receive it.' : ''}`,
    tags: ['webhooks'],
    security: [],
    parameters: RECEIVED,
    requestBody: {
      required: true,
      content: json({
        type: 'object',
        properties: {
          webhook_type: { const: type },
          object_type: { const: root },
          organization_id: { ...text, format: 'uuid' },
          [root]: payload,
        },
        required: ['webhook_type', 'object_type', 'organization_id', root],
      }),
    },
    responses: { 200: { description: 'Any status from 200 to 299: it has arrived; anything else is tried again' } },
  };
}

/** Headers of Standard Webhooks. */
const SIGNED = [
  header('webhook-id', 'Idempotency key: a repetition with the same key is the same operation'),
  header('webhook-timestamp', 'Seconds since 1970; refuse it when it is more than five minutes off'),
  header('webhook-signature', '`v1,` and the Base64 HMAC-SHA256 of `id.timestamp.body`'),
];

const REFUSED = {
  type: 'object',
  properties: { error: { type: 'object', properties: { code: text, message: text }, required: ['code', 'message'] } },
  required: ['error'],
};

/**
 * What we post to a payment provider that answers our protocol, as OpenAPI 3.1 `webhooks`.
 * Rule: provider-connections.md#custom-provider.
 */
export function providerWebhooks(): Record<string, object> {
  const operations = PROVIDERS.flatMap(({ protocol }) => Object.entries(protocol ?? {}));
  return Object.fromEntries(operations.map(([type, operation]) => [type, { post: webhookOf(type, operation) }]));
}

const webhookOf = (type: string, { summary, data, answer }: ProtocolOperation) => ({
  operationId: `provider.${type}`,
  summary,
  description: `${summary}. Sent to the address of a connection of the type \`custom\`.`,
  tags: ['payment_providers'],
  security: [],
  parameters: SIGNED,
  requestBody: {
    required: true,
    content: json({
      type: 'object',
      properties: {
        type: { const: type },
        id: { ...text, description: 'The same as `webhook-id`' },
        connection: { ...text, description: 'Code of the connection' },
        live: { type: 'boolean', description: 'Whether real money moves' },
        data: shapeOf(data),
      },
      required: ['type', 'id', 'connection', 'live', 'data'],
    }),
  },
  responses: {
    200: { description: 'Done', content: json(shapeOf(answer)) },
    202: {
      description: 'Begun: the outcome comes by an event',
      content: json({ type: 'object', properties: { id: text }, required: ['id'] }),
    },
    409: { description: 'The id was used with another content: nothing is sent again' },
    422: { description: 'Refused', content: json(REFUSED) },
    429: { description: 'Later: the same id is sent again after `Retry-After`' },
  },
});
