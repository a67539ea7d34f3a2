import { z } from 'zod';
import { isCurrency } from '../../../engine/money/currency.ts';
import { isCountry } from '../../../engine/places/countries.ts';
import { booleanFilter, listFilter, metadataFilter, textFilter } from '../../../platform/lists/filters.ts';
import { countedPageQuery } from '../../../platform/lists/pagination.ts';
import { CONTRACT_PROVIDERS } from '../../../platform/payments/contract-providers.ts';
import { EMULATING_TYPES } from '../../../platform/payments/providers.ts';
import { list } from '../../../platform/schema/bounded.ts';
import { elementErrors } from '../../../platform/schema/element-errors.ts';
import {
  boolean,
  cleanText,
  INVALID,
  integer,
  MANDATORY,
  oneOf,
  TOO_LONG,
  text,
  withoutNullBytes,
} from '../../../platform/schema/fields.ts';
import { flatErrors, renameErrors } from '../../../platform/schema/flat-errors.ts';
import { LINE_MAX, TERM_DAYS_MAX } from '../../../platform/schema/sizes.ts';
import {
  addressFields,
  clearable,
  emails,
  locale,
  resettable,
  textList,
  timeZone,
  webUrl,
} from '../../../platform/schema/typed-text.ts';
import { EDocumentProfile, EInvoicingInput } from '../e-invoicing.ts';

export const ACCOUNT_TYPES = ['customer', 'partner'] as const;
export const CUSTOMER_TYPES = ['company', 'individual'] as const;
export const ZERO_AMOUNT_OPTIONS = ['inherit', 'skip', 'finalize'] as const;
export const ISSUING_DATE_ANCHORS = ['next_period_start', 'current_period_end'] as const;
export const ISSUING_DATE_ADJUSTMENTS = ['align_with_finalization_date', 'keep_anchor'] as const;
export const PROVIDER_PAYMENT_METHODS = [
  'card',
  'sepa_debit',
  'us_bank_account',
  'bacs_debit',
  'link',
  'boleto',
  'crypto',
  'customer_balance',
] as const;

/** Longest external id: indexes of the database hold it. */
const EXTERNAL_ID_MAX = 255;
const NAME_MAX = 255;
const METADATA_MAX = 5;
const METADATA_KEY_MAX = 20;
const METADATA_VALUE_MAX = 100;
/** How many external systems a customer may be linked to. */
const INTEGRATIONS_MAX = 100;

/** How many kinds of payment methods a list may name; there are eight. */
const METHODS_MAX = 100;

const flag = () => resettable(boolean(), false);
const days = () => clearable(integer({ min: 0, max: TERM_DAYS_MAX }));

const BillingConfiguration = z.object({
  invoice_grace_period: days(),
  subscription_invoice_issuing_date_anchor: clearable(oneOf(ISSUING_DATE_ANCHORS)),
  subscription_invoice_issuing_date_adjustment: clearable(oneOf(ISSUING_DATE_ADJUSTMENTS)),
  document_locale: clearable(locale()),
  payment_provider: clearable(oneOf([...EMULATING_TYPES, ...CONTRACT_PROVIDERS])),
  payment_provider_code: cleanText(),
  // An index holds it beside the method.
  provider_customer_id: cleanText({ max: NAME_MAX }),
  sync: flag(),
  sync_with_provider: flag(),
  provider_payment_methods: resettable(
    list(z.enum(PROVIDER_PAYMENT_METHODS, INVALID), { max: METHODS_MAX })
      .min(1, MANDATORY)
      .refine((methods) => !methods.includes('link') || methods.includes('card'), INVALID)
      .refine((methods) => !methods.includes('customer_balance') || methods.length === 1, INVALID)
      .check(renameErrors(() => [])),
    ['card'],
  ),
});

const MetadataItem = z.object({
  id: z.string(INVALID).max(LINE_MAX, TOO_LONG).nullish(),
  svc_id: z.string(INVALID).max(LINE_MAX, TOO_LONG).nullish(),
  key: text({ max: METADATA_KEY_MAX }),
  value: text({ max: METADATA_VALUE_MAX }),
  display_in_invoice: resettable(boolean(), false),
});

const Metadata = list(z.preprocess(withoutNullBytes, MetadataItem), {
  max: METADATA_MAX,
  tooMany: 'invalid_count',
}).superRefine((items, context) => {
  const seen = new Set<string>();
  for (const [index, { key }] of items.entries()) {
    if (seen.has(key)) context.addIssue({ code: 'custom', message: 'value_already_exist', path: [index, 'key'] });
    seen.add(key);
  }
});

const IntegrationCustomer = z.object({
  id: z.string(INVALID).max(LINE_MAX, TOO_LONG).nullish(),
  code: cleanText(),
  external_customer_id: cleanText(),
  integration_type: cleanText(),
  integration_code: cleanText(),
  subsidiary_id: cleanText(),
  sync_with_provider: flag(),
  targeted_object: cleanText(),
});

const hasEachTypeOnce = (items: z.infer<typeof IntegrationCustomer>[]): boolean => {
  const types = items.map((item) => item.integration_type).filter((type) => type !== undefined && type !== null);
  return new Set(types).size === types.length;
};

/**
 * Input of `POST /customers`. Absent keeps what is stored; null clears, or restores the default where a field cannot be
 * empty. Errors of nested fields carry the flat names of error-bodies.md#codes-by-field. Rule: customers.md#fields.
 */
export const CustomerInput = z
  .object({
    external_id: text({ max: EXTERNAL_ID_MAX }),
    billing_entity_code: cleanText(),
    account_type: resettable(oneOf(ACCOUNT_TYPES), 'customer'),
    customer_type: clearable(oneOf(CUSTOMER_TYPES)),
    name: cleanText({ max: NAME_MAX }),
    firstname: cleanText(),
    lastname: cleanText(),
    legal_name: cleanText(),
    legal_number: cleanText(),
    tax_identification_number: cleanText(),
    email: emails(),
    phone: cleanText(),
    url: clearable(webUrl()),
    logo_url: clearable(webUrl()),
    ...addressFields(),
    shipping_address: z.object(addressFields(), INVALID).nullish(),
    currency: clearable(z.string(INVALID).max(LINE_MAX, INVALID).refine(isCurrency, INVALID)),
    timezone: clearable(timeZone()),
    net_payment_term: days(),
    finalize_zero_amount_invoice: resettable(z.enum(ZERO_AMOUNT_OPTIONS, 'invalid_value'), 'inherit'),
    skip_invoice_custom_sections: flag(),
    external_salesforce_id: cleanText(),
    billing_configuration: BillingConfiguration.nullish(),
    e_invoicing: EInvoicingInput,
    e_document_profile: EDocumentProfile,
    dunning_campaign_code: cleanText(),
    exclude_from_dunning_campaign: boolean().optional(),
    metadata: resettable(Metadata, []),
    tax_codes: textList(),
    invoice_custom_section_codes: textList(),
    integration_customers: resettable(
      list(IntegrationCustomer, { max: INTEGRATIONS_MAX }).refine(hasEachTypeOnce, {
        error: 'invalid_count_per_integration_type',
        abort: true,
      }),
      [],
    ),
  })
  .check(flatErrors({ billing_configuration: '', shipping_address: 'shipping_' }), elementErrors('metadata'));
export type CustomerInput = z.infer<typeof CustomerInput>;

const enumFilter = (isKnown: (value: string) => boolean) =>
  listFilter.refine((values) => values === undefined || values.every(isKnown), INVALID);

const isOneOf = (words: readonly string[]) => (value: string) => words.includes(value);

/** What a link to the customer's page is for (customers.md#deletion-portal-checkout). */
export const PortalUrlQuery = z.object({ scope: z.enum(['read'], INVALID).optional() });
export type PortalUrlQuery = z.infer<typeof PortalUrlQuery>;

/** Filters of `GET /customers` (lists.md#filters-and-order). */
export const CustomerListQuery = z.object({
  ...countedPageQuery,
  search_term: textFilter,
  external_id: textFilter,
  account_type: enumFilter(isOneOf(ACCOUNT_TYPES)).meta({
    type: 'array',
    items: { type: 'string', enum: ACCOUNT_TYPES },
  }),
  customer_type: textFilter
    .refine((type) => type === undefined || isOneOf(CUSTOMER_TYPES)(type), INVALID)
    .meta({ type: 'string', enum: CUSTOMER_TYPES }),
  has_customer_type: booleanFilter,
  billing_entity_codes: listFilter,
  countries: listFilter
    .transform((codes) => codes?.map((code) => code.toUpperCase()))
    .refine((codes) => codes === undefined || codes.every(isCountry), INVALID),
  states: listFilter,
  zipcodes: listFilter,
  currencies: enumFilter(isCurrency),
  has_tax_identification_number: booleanFilter,
  metadata: metadataFilter,
});
export type CustomerListQuery = z.infer<typeof CustomerListQuery>;
