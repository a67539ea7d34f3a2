import { z } from 'zod';
import { PageMeta, pageQuery } from '../../../platform/lists/pagination.ts';
import { anyValue } from '../../../platform/schema/bounded.ts';
import { optionalText } from '../../../platform/schema/fields.ts';
import { instantField } from '../../../platform/schema/instant-field.ts';
import { permissionsOf } from './permissions-input.ts';

const NAME_MAX = 255;

/** How many resources permissions may name; there are fifty, and a message names a hundred wrong ones. */
const PERMISSIONS_MAX = 500;

const permissions = anyValue({ max: PERMISSIONS_MAX, textMax: NAME_MAX })
  .transform((value, context) => {
    const { permissions: given, codes } = permissionsOf(value);
    if (given) return given;
    for (const message of codes) context.addIssue({ code: 'custom', message });
    return z.NEVER;
  })
  .optional()
  .meta({
    type: 'object',
    additionalProperties: { type: 'array', items: { type: 'string', enum: ['read', 'write'] } },
  });

/**
 * Input of `POST /api_keys`, where a key without permissions gets the default ones, and of `PUT /api_keys/{svc_id}`,
 * where what is absent stays. Rule: api-keys.md#record, api-keys.md#lifecycle.
 */
export const ApiKeyInput = z.object({
  name: optionalText({ max: NAME_MAX }),
  permissions,
  expires_at: instantField().nullish(),
});
export type ApiKeyInput = z.infer<typeof ApiKeyInput>;

/** Input of `POST /api_keys/{svc_id}/rotate`: until when the old key is valid, and the name of the new one. */
export const ApiKeyRotation = z.object({
  name: optionalText({ max: NAME_MAX }),
  expires_at: instantField().nullish(),
});
export type ApiKeyRotation = z.infer<typeof ApiKeyRotation>;

export const ApiKeyView = z.object({
  svc_id: z.uuid(),
  svc_organization_id: z.uuid(),
  name: z.string().nullable(),
  last4: z.string(),
  permissions: z.record(z.string(), z.array(z.enum(['read', 'write']))),
  expires_at: z.iso.datetime().nullable(),
  last_used_at: z.iso.datetime().nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type ApiKeyView = z.infer<typeof ApiKeyView>;

export const ApiKeyEnvelope = z.object({ api_key: ApiKeyView });

/** The key of a request: what it may do, and for whom. Rule: console-reads.md#current-key. */
export const CurrentApiKeyView = ApiKeyView.pick({
  svc_id: true,
  name: true,
  last4: true,
  permissions: true,
  expires_at: true,
}).extend({
  organization: z.object({ svc_id: z.uuid(), name: z.string(), slug: z.string(), sandbox: z.boolean() }),
});
export type CurrentApiKeyView = z.infer<typeof CurrentApiKeyView>;
export const CurrentApiKeyEnvelope = z.object({ api_key: CurrentApiKeyView });

/** Answer of the commands that create a key: the only one that shows its value. */
export const NewApiKeyEnvelope = z.object({ api_key: ApiKeyView.extend({ value: z.string() }) });
export const ApiKeyList = z.object({ api_keys: z.array(ApiKeyView), meta: PageMeta });
export const ApiKeysQuery = z.object(pageQuery);
export type ApiKeysQuery = z.infer<typeof ApiKeysQuery>;
