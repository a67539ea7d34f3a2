import type { Operation } from '../platform/operation.ts';

type HeaderParameter = {
  name: string;
  in: 'header';
  required: false;
  description: string;
  schema: { type: 'string'; maxLength?: number; enum?: string[] };
};

const KEY: HeaderParameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'A text of your choice, such as a UUID. The same request with the same key is done once: for 24 hours it gets the ' +
    'first answer; another request with it is refused with 422',
  schema: { type: 'string', maxLength: 255 },
};
const REQUEST_ID: HeaderParameter = {
  name: 'X-Request-Id',
  in: 'header',
  required: false,
  description:
    'Your name for this request, which the answer and the API log repeat: letters, digits and hyphens; else one is made',
  schema: { type: 'string', maxLength: 64 },
};
const EXPLAIN: HeaderParameter = {
  name: 'X-Svc-Explain',
  in: 'header',
  required: false,
  description: '`true` adds what billing makes of each event, as the parameter `explain` does',
  schema: { type: 'string', enum: ['true', 'false'] },
};

/** Operations that explain events on demand. */
const EXPLAINED = new Set(['createEvent', 'createBatchEvents']);

/** The headers that an operation reads, beside the key. */
export const headerParameters = ({ name, kind, ignoresIdempotencyKey }: Operation): HeaderParameter[] => [
  ...(kind !== 'read' && !ignoresIdempotencyKey ? [KEY] : []),
  ...(EXPLAINED.has(name) ? [EXPLAIN] : []),
  REQUEST_ID,
];

const text = { type: 'string' };
const count = { type: 'integer', minimum: 0 };

/** Headers of answers, as components. Rules: rate-limits.md#counting, idempotency.md. */
export const HEADERS = {
  RequestId: { description: 'Name of the request, for questions about it and in the API log', schema: text },
  RateLimit: { description: 'Requests of this kind that the organization may send in a second', schema: count },
  RateRemaining: { description: 'How many of them are left in this second', schema: count },
  RateReset: { description: 'Seconds until the next ones', schema: count },
  Replayed: { description: '`true`: the answer of the same request, which was done before', schema: text },
  RetryAfter: { description: 'Seconds to wait before the next attempt', schema: count },
};

const ref = (name: keyof typeof HEADERS) => ({ $ref: `#/components/headers/${name}` });
const ALWAYS = { 'X-Request-Id': ref('RequestId'), 'X-RateLimit-Remaining': ref('RateRemaining') };

/** Headers of the answer of an operation that has succeeded. */
export const responseHeaders = ({ kind }: Operation): Record<string, { $ref: string }> => ({
  ...ALWAYS,
  ...(kind === 'read' ? {} : { 'X-Svc-Replayed': ref('Replayed') }),
});

/** Headers of refusals that pass by themselves. */
export const WAITING_HEADERS = {
  'Retry-After': ref('RetryAfter'),
  'X-RateLimit-Limit': ref('RateLimit'),
  'X-RateLimit-Reset': ref('RateReset'),
};
