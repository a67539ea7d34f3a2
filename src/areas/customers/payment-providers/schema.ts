import { z } from 'zod';
import { listFilter } from '../../../platform/lists/filters.ts';
import { PageMeta, pageQuery } from '../../../platform/lists/pagination.ts';
import { CAPABILITIES } from '../../../platform/payments/capabilities.ts';
import { CONTRACT_PROVIDERS } from '../../../platform/payments/contract-providers.ts';
import { CONNECTABLE_TYPES, EMULATING_TYPES, PROVIDERS } from '../../../platform/payments/providers.ts';
import { oneOf, oneOfOffered, optionalText, text } from '../../../platform/schema/fields.ts';
import { secret } from '../../../platform/schema/secret-field.ts';
import { clearable, webUrl } from '../../../platform/schema/typed-text.ts';

/** What a connection may be: a provider of the contract, or one that appears under such a name. */
export const PROVIDER_TYPES = [...EMULATING_TYPES, ...CONTRACT_PROVIDERS] as const;
export type ProviderType = (typeof PROVIDER_TYPES)[number];

/** Connections to these are refused by name, since no driver has them. */
const NOT_YET = PROVIDER_TYPES.filter((type) => !CONNECTABLE_TYPES.includes(type));

const URL_MAX = 1024;
const CODE_MAX = 255;
const SECRET_MAX = 1024;

/** Secrets and settings of all types; `createProvider` refuses those of another type. */
const SECRET_FIELDS: Record<string, z.ZodType<string | null | undefined>> = Object.fromEntries(
  PROVIDERS.flatMap(({ secrets }) => secrets.map(({ name }) => [name, secret(optionalText({ max: SECRET_MAX }))])),
);
const SETTING_FIELDS: Record<string, z.ZodType> = Object.fromEntries(
  PROVIDERS.flatMap(({ settings }) => settings.map(({ name, input }) => [name, input.optional()])),
);

const fields = {
  code: text({ max: CODE_MAX }),
  name: text({ max: CODE_MAX }),
  success_redirect_url: clearable(webUrl().refine((url) => url.length <= URL_MAX, 'value_is_too_long')),
  emulates: oneOf(CONTRACT_PROVIDERS).optional(),
  ...SECRET_FIELDS,
  ...SETTING_FIELDS,
};

/** Input of `POST /payment_providers`. Rule: provider-connections.md#routes. */
export const ProviderCreate = z.object({ type: oneOfOffered(PROVIDER_TYPES, NOT_YET), ...fields });
export type ProviderCreate = z.infer<typeof ProviderCreate>;

/** Input of `PUT /payment_providers/{code}`: what is absent stays. */
export const ProviderUpdate = z.object({ type: oneOfOffered(PROVIDER_TYPES, NOT_YET), ...fields }).partial();
export type ProviderUpdate = z.infer<typeof ProviderUpdate>;

export const ProvidersQuery = z.object({ ...pageQuery, types: listFilter });
export type ProvidersQuery = z.infer<typeof ProvidersQuery>;

const LAST4_FIELDS: Record<string, z.ZodType<string | undefined>> = Object.fromEntries(
  Object.keys(SECRET_FIELDS).map((name) => [`${name}_last4`, z.string().optional()]),
);

const textOrNull = z.string().nullable();
export const ProviderView = z.object({
  svc_id: z.uuid(),
  type: z.enum(PROVIDER_TYPES),
  emulates: textOrNull,
  code: z.string(),
  name: z.string(),
  success_redirect_url: textOrNull,
  ...LAST4_FIELDS,
  ...SETTING_FIELDS,
  settings: z.object(SETTING_FIELDS),
  capabilities: z.array(z.enum(CAPABILITIES)),
  /** Whether it moves real money; null while only the provider knows. */
  live: z.boolean().nullable(),
  status: z.enum(['connected', 'unverified', 'failing']),
  last_error: textOrNull,
  inbound_url: z.string(),
  customers_count: z.int(),
  /** What differs between the provider's records and ours. */
  drifts_open: z.int(),
  reconciled_at: z.string().nullable(),
  created_at: z.string(),
});
export type ProviderView = z.infer<typeof ProviderView>;
export const ProviderEnvelope = z.object({ payment_provider: ProviderView });

const MADE_SECRETS: Record<string, z.ZodType<string | undefined>> = Object.fromEntries(
  PROVIDERS.flatMap(({ secrets }) =>
    secrets.filter(({ make }) => make).map(({ name }) => [name, z.string().optional()]),
  ),
);
/** With secrets that were made by us, this once. */
export const CreatedProvider = z.object({ payment_provider: ProviderView.extend(MADE_SECRETS) });
export const ProviderList = z.object({ payment_providers: z.array(ProviderView), meta: PageMeta });

/** A row of the table of types, by which a client can offer every type without a list of its own. */
const ProviderTypeView = z.object({
  type: z.enum(PROVIDER_TYPES),
  /** Only sandbox organizations may have it. */
  sandbox_only: z.boolean(),
  /** The name of the published interface under which it appears by default; null if it has one itself. */
  emulates: z.enum(CONTRACT_PROVIDERS).nullable(),
  /** `made`: the service makes it where none is sent, and shows it once. */
  secrets: z.array(z.object({ name: z.string(), mandatory: z.boolean(), made: z.boolean() })),
  settings: z.array(z.object({ name: z.string(), mandatory: z.boolean() })),
  capabilities: z.array(z.enum(CAPABILITIES)),
});
export const ProviderTypes = z.object({ payment_provider_types: z.array(ProviderTypeView) });
export type ProviderTypes = z.infer<typeof ProviderTypes>;
