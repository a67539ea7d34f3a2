import { z } from 'zod';
import { listFilter } from '../../../platform/lists/filters.ts';
import { PageMeta, pageQuery } from '../../../platform/lists/pagination.ts';
import { boolean, oneOf, oneOfOffered, optionalText, text } from '../../../platform/schema/fields.ts';
import { secret } from '../../../platform/schema/secret-field.ts';
import { clearable, webUrl } from '../../../platform/schema/typed-text.ts';

/** Providers of the contract. */
export const CONTRACT_PROVIDERS = ['stripe', 'gocardless', 'cashfree', 'adyen', 'flutterwave', 'moneyhash'] as const;
export type ContractProvider = (typeof CONTRACT_PROVIDERS)[number];

/** What a connection may be: a provider of the contract, or one that behaves like it. Rule: provider-connections.md. */
export const PROVIDER_TYPES = ['sandbox', ...CONTRACT_PROVIDERS] as const;
export type ProviderType = (typeof PROVIDER_TYPES)[number];

/** Connections to these are refused by name (CONNECTABLE of commands.ts). */
const NOT_YET = CONTRACT_PROVIDERS.filter((type) => type !== 'stripe');

const URL_MAX = 1024;
const CODE_MAX = 255;
const SECRET_MAX = 1024;

const fields = {
  code: text({ max: CODE_MAX }),
  name: text({ max: CODE_MAX }),
  success_redirect_url: clearable(webUrl().refine((url) => url.length <= URL_MAX, 'value_is_too_long')),
  emulates: oneOf(CONTRACT_PROVIDERS).optional(),
  secret_key: secret(optionalText({ max: SECRET_MAX })),
  webhook_secret: secret(optionalText({ max: SECRET_MAX })),
  supports_3ds: boolean().optional(),
  require_terms_of_service_consent: boolean().optional(),
};

/** Input of `POST /payment_providers`. Rule: provider-connections.md#routes. */
export const ProviderCreate = z.object({ type: oneOfOffered(PROVIDER_TYPES, NOT_YET), ...fields });
export type ProviderCreate = z.infer<typeof ProviderCreate>;

/** Input of `PUT /payment_providers/{code}`: what is absent stays. */
export const ProviderUpdate = z.object({ type: oneOfOffered(PROVIDER_TYPES, NOT_YET), ...fields }).partial();
export type ProviderUpdate = z.infer<typeof ProviderUpdate>;

export const ProvidersQuery = z.object({ ...pageQuery, types: listFilter });
export type ProvidersQuery = z.infer<typeof ProvidersQuery>;

const textOrNull = z.string().nullable();
export const ProviderView = z.object({
  svc_id: z.uuid(),
  type: z.enum(PROVIDER_TYPES),
  emulates: textOrNull,
  code: z.string(),
  name: z.string(),
  success_redirect_url: textOrNull,
  secret_key_last4: z.string().optional(),
  webhook_secret_last4: z.string().optional(),
  supports_3ds: z.boolean().optional(),
  require_terms_of_service_consent: z.boolean().optional(),
  status: z.enum(['connected', 'unverified', 'failing']),
  last_error: textOrNull,
  inbound_url: z.string(),
  customers_count: z.int(),
  created_at: z.string(),
});
export type ProviderView = z.infer<typeof ProviderView>;
export const ProviderEnvelope = z.object({ payment_provider: ProviderView });
export const ProviderList = z.object({ payment_providers: z.array(ProviderView), meta: PageMeta });
