import { z } from 'zod';
import { RefusedAddress, targetOf } from '../../../platform/http/addresses.ts';
import { numberFilter } from '../../../platform/lists/filters.ts';
import { PageMeta, pageQuery } from '../../../platform/lists/pagination.ts';
import { anyValue } from '../../../platform/schema/bounded.ts';
import { boolean, integer, oneOf, optionalText, text } from '../../../platform/schema/fields.ts';
import { secret } from '../../../platform/schema/secret-field.ts';
import { LINE_MAX, PROSE_MAX } from '../../../platform/schema/sizes.ts';

import { chosenTypes } from './event-types.ts';

export const URL_IS_INVALID = 'url_is_invalid';
const SIGNATURE_ALGORITHMS = ['jwt', 'hmac'] as const;
export type SignatureAlgorithm = (typeof SIGNATURE_ALGORITHMS)[number];

const NAME_MAX = 255;
/** How many types of events a list may name; there are a hundred. */
const TYPES_MAX = 1000;
const OVERLAP_HOURS_MAX = 168;

/**
 * The URL as it is stored and called. The command checks private addresses, since a setting decides whether they are
 * allowed.
 */
function outgoingUrl(value: string, context: z.RefinementCtx): string {
  try {
    return targetOf(value.trim(), { allowPrivate: true }).href;
  } catch (error) {
    const reason = error instanceof RefusedAddress ? error.reason : undefined;
    context.addIssue({ code: 'custom', message: URL_IS_INVALID, params: { reason } });
    return z.NEVER;
  }
}

// A query of the receiver's URL (`?token=…`) is a secret of the receiver.
const webhookUrl = secret(text({ max: PROSE_MAX }).transform(outgoingUrl));

/** Types of events as clients name them; null for all of the contract. */
export const eventTypes = anyValue({ max: TYPES_MAX, textMax: LINE_MAX })
  .transform((value, context) => {
    const chosen = chosenTypes(value);
    if ('types' in chosen) return chosen.types;
    context.addIssue({ code: 'custom', message: chosen.code });
    return z.NEVER;
  })
  .optional()
  .meta({ type: ['array', 'null'], items: { type: 'string' } });

const fields = {
  webhook_url: webhookUrl,
  signature_algo: oneOf(SIGNATURE_ALGORITHMS).nullish(),
  name: optionalText({ max: NAME_MAX }),
  event_types: eventTypes,
  enabled: boolean().nullish(),
};

/** Input of `POST /webhook_endpoints`. Rule: webhooks.md#endpoints. */
export const WebhookEndpointCreate = z.object(fields);
export type WebhookEndpointCreate = z.infer<typeof WebhookEndpointCreate>;

/** Input of `PUT /webhook_endpoints/{id}`: what is absent stays. */
export const WebhookEndpointUpdate = z.object({ ...fields, webhook_url: webhookUrl.optional() });
export type WebhookEndpointUpdate = z.infer<typeof WebhookEndpointUpdate>;

/** Input of `POST /webhook_endpoints/{id}/rotate_secret`. */
export const SecretRotation = z.object({ expires_in_hours: integer({ min: 0, max: OVERLAP_HOURS_MAX }).nullish() });
export type SecretRotation = z.infer<typeof SecretRotation>;

export const WebhookEndpointView = z.object({
  svc_id: z.uuid(),
  svc_organization_id: z.uuid(),
  webhook_url: z.string(),
  signature_algo: z.enum(SIGNATURE_ALGORITHMS),
  name: z.string().nullable(),
  event_types: z.array(z.string()).nullable(),
  status: z.enum(['enabled', 'disabled']),
  disabled_at: z.iso.datetime().nullable(),
  disabled_reason: z.string().nullable(),
  created_at: z.iso.datetime(),
});
export type WebhookEndpointView = z.infer<typeof WebhookEndpointView>;

const WithSecret = WebhookEndpointView.extend({ secret: z.string() });
export const WebhookEndpointEnvelope = z.object({ webhook_endpoint: WebhookEndpointView });
export const WebhookEndpointSecretEnvelope = z.object({ webhook_endpoint: WithSecret });
export const WebhookEndpointList = z.object({ webhook_endpoints: z.array(WebhookEndpointView), meta: PageMeta });
export const WebhookEndpointListQuery = z.object(pageQuery);
export type WebhookEndpointListQuery = z.infer<typeof WebhookEndpointListQuery>;

const HEALTH_HOURS_MAX = 168;
export const WebhookEndpointHealthQuery = z.object({
  hours: numberFilter({ min: 1, max: HEALTH_HOURS_MAX, usual: 24 }),
});
export type WebhookEndpointHealthQuery = z.output<typeof WebhookEndpointHealthQuery>;

export const WebhookEndpointHealth = z.object({
  health: z.object({
    succeeded: z.int(),
    failed: z.int(),
    pending: z.int(),
    success_rate: z.string().nullable(),
    p50_ms: z.int().nullable(),
    p95_ms: z.int().nullable(),
    points: z.array(z.object({ hour: z.iso.datetime(), succeeded: z.int(), failed: z.int() })),
  }),
});
export type WebhookEndpointHealth = z.infer<typeof WebhookEndpointHealth>;
