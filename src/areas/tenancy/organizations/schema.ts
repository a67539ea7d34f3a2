import { z } from 'zod';
import { INVALID, oneOf, TOO_LONG, text } from '../../../platform/schema/fields.ts';
import { flatErrors } from '../../../platform/schema/flat-errors.ts';
import { LINE_MAX } from '../../../platform/schema/sizes.ts';
import { clearable, resettable } from '../../../platform/schema/typed-text.ts';
import { TaxView } from '../../catalog/taxes/view.ts';
import { EMAIL_SETTINGS, issuerConfiguration, issuerFields } from '../../customers/billing-entities/schema.ts';
import { WebhookEndpointCreate } from '../../messaging/webhook-endpoints/schema.ts';

export const ORGANIZATION_NUMBERINGS = ['per_customer', 'per_organization'] as const;

const SLUG_MIN = 3;
const SLUG_MAX = 40;
const SLUG = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;
/** Reserved words that cannot be an organization's slug (organizations.md). */
const RESERVED_SLUGS: ReadonlySet<string> = new Set(
  (
    'auth login sign-up api admin webhooks settings new customers customer plans plan invoices invoice subscriptions ' +
    'coupons coupon add-ons add-on billable-metrics billable-metric credit-notes analytics payments payment features ' +
    'feature tax webhook api-keys create update duplicate 404 forbidden'
  ).split(' '),
);

/** Input of `PUT /organizations`: what is absent stays, null clears. Rule: organizations.md. */
export const OrganizationUpdate = z
  .object({
    ...issuerFields,
    name: clearable(z.string(INVALID).max(LINE_MAX, TOO_LONG)),
    slug: text()
      .refine((slug) => slug.length >= SLUG_MIN, 'value_is_too_short')
      .refine((slug) => slug.length <= SLUG_MAX, 'value_is_too_long')
      .refine((slug) => SLUG.test(slug), 'invalid_format')
      .refine((slug) => !RESERVED_SLUGS.has(slug), 'value_is_reserved')
      .optional(),
    document_numbering: resettable(oneOf(ORGANIZATION_NUMBERINGS), 'per_customer'),
    webhook_url: clearable(WebhookEndpointCreate.shape.webhook_url),
    billing_configuration: z.object(issuerConfiguration).nullish(),
  })
  .check(flatErrors({ billing_configuration: '' }));
export type OrganizationUpdate = z.infer<typeof OrganizationUpdate>;

const nullableText = z.string().nullable();

export const OrganizationView = z.object({
  svc_id: z.uuid(),
  name: z.string(),
  slug: z.string(),
  sandbox: z.boolean(),
  default_currency: z.string(),
  created_at: z.iso.datetime(),
  webhook_url: z.string(),
  webhook_urls: z.array(z.string()),
  country: nullableText,
  address_line1: nullableText,
  address_line2: nullableText,
  state: nullableText,
  zipcode: nullableText,
  email: nullableText,
  city: nullableText,
  legal_name: nullableText,
  legal_number: nullableText,
  timezone: z.string(),
  net_payment_term: z.int(),
  email_settings: z.array(z.enum(EMAIL_SETTINGS)),
  document_numbering: z.enum(ORGANIZATION_NUMBERINGS),
  document_number_prefix: z.string(),
  tax_identification_number: nullableText,
  finalize_zero_amount_invoice: z.boolean(),
  billing_configuration: z.object({
    invoice_footer: nullableText,
    invoice_grace_period: z.int(),
    document_locale: z.string(),
  }),
  events_store: z.literal('postgres'),
  taxes: z.array(TaxView),
});
export type OrganizationView = z.infer<typeof OrganizationView>;

export const OrganizationEnvelope = z.object({ organization: OrganizationView });
