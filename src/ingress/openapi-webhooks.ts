import { z } from 'zod';
import type { ProtocolOperation } from '../platform/payments/descriptor.ts';
import { PROVIDERS } from '../platform/payments/providers.ts';

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
