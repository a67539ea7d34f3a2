import { z } from 'zod';
import { listFilter } from '../../../platform/lists/filters.ts';
import { PageMeta, pageQuery } from '../../../platform/lists/pagination.ts';
import { list } from '../../../platform/schema/bounded.ts';
import { cleanText, INVALID, oneOf, oneOfOffered, optionalText, text } from '../../../platform/schema/fields.ts';
import { secret } from '../../../platform/schema/secret-field.ts';

/** Systems of the contract, each with what it is for. */
export const INTEGRATIONS = {
  anrok: 'tax',
  avalara: 'tax',
  netsuite: 'accounting',
  xero: 'accounting',
  hubspot: 'crm',
  salesforce: 'crm',
  /** An access point that carries electronic documents to their receivers. */
  e_invoicing: 'e_invoicing',
} as const;
export type IntegrationType = keyof typeof INTEGRATIONS;
export type IntegrationCategory = (typeof INTEGRATIONS)[IntegrationType];
export const INTEGRATION_TYPES = Object.keys(INTEGRATIONS) as [IntegrationType, ...IntegrationType[]];

/** Those that have a driver; the others are refused by name. */
const NOT_YET = INTEGRATION_TYPES.filter((type) => type !== 'anrok' && type !== 'e_invoicing');

const CODE_MAX = 255;
const SECRET_MAX = 1024;
const URL_MAX = 1024;
/** A secret of Standard Webhooks: 24 to 64 bytes. */
const SHARED_SECRET = /^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/;
/** How many names a connection has for what is sold: more items than any catalogue of ours has. */
const MAPPINGS_MAX = 10_000;

const fields = {
  code: text({ max: CODE_MAX }),
  name: text({ max: CODE_MAX }),
  api_key: secret(optionalText({ max: SECRET_MAX })),
  /** Of an access point: where its operations are posted, and what signs them. */
  endpoint_url: optionalText({ max: URL_MAX }),
  shared_secret: secret(
    optionalText({ max: SECRET_MAX }).refine((value) => !value || SHARED_SECRET.test(value), INVALID),
  ),
};

/** Input of `POST /integrations`. Rule: integrations.md#routes. */
export const IntegrationCreate = z.object({ type: oneOfOffered(INTEGRATION_TYPES, NOT_YET), ...fields });
export type IntegrationCreate = z.infer<typeof IntegrationCreate>;

/** Input of `PUT /integrations/{code}`: what is absent stays. */
export const IntegrationUpdate = z.object({ type: oneOfOffered(INTEGRATION_TYPES, NOT_YET), ...fields }).partial();
export type IntegrationUpdate = z.infer<typeof IntegrationUpdate>;

export const IntegrationsQuery = z.object({ ...pageQuery, types: listFilter });
export type IntegrationsQuery = z.infer<typeof IntegrationsQuery>;

const textOrNull = z.string().nullable();

export const IntegrationView = z.object({
  svc_id: z.uuid(),
  type: z.enum(INTEGRATION_TYPES),
  category: z.enum(['tax', 'accounting', 'crm', 'e_invoicing']),
  code: z.string(),
  name: z.string(),
  api_key_last4: z.string().optional(),
  shared_secret_last4: z.string().optional(),
  settings: z.record(z.string(), z.unknown()),
  status: z.enum(['connected', 'unverified', 'failing']),
  last_error: textOrNull,
  live: z.boolean(),
  /** Of an access point outside sandboxes. */
  inbound_url: z.string().optional(),
  customers_count: z.int(),
  created_at: z.iso.datetime(),
});
export type IntegrationView = z.infer<typeof IntegrationView>;
export const IntegrationEnvelope = z.object({ integration: IntegrationView });
export const IntegrationList = z.object({ integrations: z.array(IntegrationView), meta: PageMeta });

/** What may have a name in another system; `default` is for everything that has none of its own. */
export const MAPPED_TYPES = ['billable_metric', 'plan', 'add_on', 'fixed_charge', 'commitment', 'default'] as const;
export type MappedType = (typeof MAPPED_TYPES)[number];

const Mapping = z.object({
  resource_type: oneOf(MAPPED_TYPES),
  resource_code: cleanText({ max: CODE_MAX }),
  external_id: text({ max: CODE_MAX }),
  external_name: cleanText({ max: CODE_MAX }),
});

/** Input of `PUT /integrations/{code}/mappings`: replaces all. */
export const MappingsUpdate = z.object({ mappings: list(Mapping, { max: MAPPINGS_MAX }) });
export type MappingsUpdate = z.infer<typeof MappingsUpdate>;

export const MappingsView = z.object({
  mappings: z.array(
    z.object({
      resource_type: z.enum(MAPPED_TYPES),
      resource_code: textOrNull,
      external_id: z.string(),
      external_name: textOrNull,
    }),
  ),
});

export const CallsQuery = z.object(pageQuery);
export type CallsQuery = z.infer<typeof CallsQuery>;

export const CallsView = z.object({
  integration_calls: z.array(
    z.object({
      at: z.iso.datetime(),
      operation: z.string(),
      svc_resource_id: z.uuid().nullable(),
      http_status: z.int().nullable(),
      duration_ms: z.int(),
      error: textOrNull,
      body: textOrNull,
    }),
  ),
  meta: PageMeta,
});
