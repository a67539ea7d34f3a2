import { z } from 'zod';
import { PROFILES } from '../../../engine/e-documents/profiles.ts';
import { isCurrency } from '../../../engine/money/currency.ts';
import { list } from '../../../platform/schema/bounded.ts';
import { boolean, cleanText, INVALID, integer, oneOf, text } from '../../../platform/schema/fields.ts';
import { flatErrors, renameErrors } from '../../../platform/schema/flat-errors.ts';
import { LINE_MAX, TERM_DAYS_MAX } from '../../../platform/schema/sizes.ts';
import { isStorable } from '../../../platform/schema/storable.ts';
import {
  addressFields,
  clearable,
  emails,
  locale,
  resettable,
  textList,
  timeZone,
} from '../../../platform/schema/typed-text.ts';
import { TaxView } from '../../catalog/taxes/view.ts';
import {
  BankAccountsInput,
  BankAccountView,
  EDocumentProfile,
  EInvoicingInput,
  EInvoicingView,
} from '../e-invoicing.ts';
import { SectionView } from '../invoice-custom-sections/schema.ts';
import { logo } from './logo.ts';

export const DOCUMENT_NUMBERINGS = ['per_customer', 'per_billing_entity'] as const;
export const EMAIL_SETTINGS = ['invoice.finalized', 'credit_note.created', 'payment_receipt.created'] as const;
const ANCHORS = ['next_period_start', 'current_period_end'] as const;
const ADJUSTMENTS = ['align_with_finalization_date', 'keep_anchor'] as const;

/** Longest code: an index of the database holds it. */
const CODE_MAX = 255;
const FOOTER_MAX = 600;
const PREFIX_MAX = 10;
/** How many kinds of mails a list may name; there are three, each named once or twice. */
const EMAIL_SETTINGS_MAX = 100;

const days = () => resettable(integer({ min: 0, max: TERM_DAYS_MAX }), 0);

/**
 * Fields about the issuer of documents that an organization and a billing entity share (organizations.md,
 * billing-entities.md).
 */
export const issuerFields = {
  default_currency: resettable(
    z
      .string(INVALID)
      .max(LINE_MAX, INVALID)
      .transform((code) => code.trim().toUpperCase())
      .refine(isCurrency, INVALID),
    'USD',
  ),
  ...addressFields(),
  email: emails(),
  legal_name: cleanText(),
  legal_number: cleanText(),
  tax_identification_number: cleanText(),
  timezone: resettable(timeZone(), 'UTC'),
  net_payment_term: days(),
  email_settings: resettable(
    list(z.enum(EMAIL_SETTINGS, 'unsupported_value'), { max: EMAIL_SETTINGS_MAX, wrong: 'unsupported_value' })
      .check(renameErrors(() => []))
      .transform((settings) => [...new Set(settings)]),
    [],
  ),
  // Null restores the generated one.
  document_number_prefix: z
    .string(INVALID)
    .max(LINE_MAX, 'value_is_too_long')
    .transform((prefix) => prefix.trim().toUpperCase())
    .refine((prefix) => prefix.length > 0, 'value_is_too_short')
    .refine((prefix) => prefix.length <= PREFIX_MAX, 'value_is_too_long')
    .refine(isStorable, 'invalid_format')
    .nullish(),
  finalize_zero_amount_invoice: resettable(boolean(), true),
};

/** Parts of `billing_configuration` that an organization and a billing entity share. */
export const issuerConfiguration = {
  invoice_footer: cleanText({ max: FOOTER_MAX }),
  invoice_grace_period: days(),
  document_locale: resettable(locale(), 'en'),
};

const fields = {
  ...issuerFields,
  phone: cleanText(),
  document_numbering: resettable(oneOf(DOCUMENT_NUMBERINGS), 'per_customer'),
  billing_configuration: z
    .object({
      ...issuerConfiguration,
      subscription_invoice_issuing_date_anchor: resettable(oneOf(ANCHORS), 'next_period_start'),
      subscription_invoice_issuing_date_adjustment: resettable(oneOf(ADJUSTMENTS), 'align_with_finalization_date'),
    })
    .nullish(),
  einvoicing: resettable(boolean(), false),
  eu_tax_management: resettable(boolean(), false),
  e_invoicing: EInvoicingInput,
  e_document_profile: EDocumentProfile,
  bank_accounts: BankAccountsInput,
  logo: logo(),
};

// Mails carry it in their header, so it is one line.
const entityName = () => text().refine((name) => !/[\r\n]/.test(name), 'invalid_format');

/** Input of `POST /billing_entities`. */
export const BillingEntityCreate = z
  .object({ code: text({ max: CODE_MAX }), name: entityName(), ...fields })
  .check(flatErrors({ billing_configuration: '' }));
export type BillingEntityCreate = z.infer<typeof BillingEntityCreate>;

/** Input of `PUT /billing_entities/{code}`: what is absent stays. */
export const BillingEntityUpdate = z
  .object({
    code: clearable(z.string(INVALID).max(LINE_MAX, 'value_is_too_long')),
    name: entityName().optional(),
    ...fields,
    tax_codes: textList(),
    invoice_custom_section_codes: textList(),
    dunning_campaign_code: clearable(z.string(INVALID).max(LINE_MAX, 'value_is_too_long')),
  })
  .check(flatErrors({ billing_configuration: '' }));
export type BillingEntityUpdate = z.infer<typeof BillingEntityUpdate>;

const nullableText = z.string().nullable();

export const BillingEntityView = z.object({
  svc_id: z.uuid(),
  code: z.string(),
  name: z.string(),
  default_currency: z.string(),
  country: nullableText,
  address_line1: nullableText,
  address_line2: nullableText,
  city: nullableText,
  state: nullableText,
  zipcode: nullableText,
  phone: nullableText,
  email: nullableText,
  legal_name: nullableText,
  legal_number: nullableText,
  tax_identification_number: nullableText,
  timezone: z.string(),
  net_payment_term: z.int(),
  email_settings: z.array(z.enum(EMAIL_SETTINGS)),
  document_numbering: z.enum(DOCUMENT_NUMBERINGS),
  document_number_prefix: z.string(),
  finalize_zero_amount_invoice: z.boolean(),
  invoice_footer: nullableText,
  invoice_grace_period: z.int(),
  subscription_invoice_issuing_date_anchor: z.enum(ANCHORS),
  subscription_invoice_issuing_date_adjustment: z.enum(ADJUSTMENTS),
  document_locale: z.string(),
  einvoicing: z.boolean(),
  eu_tax_management: z.boolean(),
  logo_url: nullableText,
  // Absent while nothing was said about electronic documents.
  e_invoicing: EInvoicingView.optional(),
  e_document_profile: z.enum(PROFILES).optional(),
  bank_accounts: z.array(BankAccountView).optional(),
  is_default: z.boolean(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type BillingEntityView = z.infer<typeof BillingEntityView>;

export const BillingEntityDetails = BillingEntityView.extend({
  taxes: z.array(TaxView),
  selected_invoice_custom_sections: z.array(SectionView),
});
export type BillingEntityDetails = z.infer<typeof BillingEntityDetails>;

export const BillingEntityEnvelope = z.object({ billing_entity: BillingEntityView });
export const BillingEntityDetailsEnvelope = z.object({ billing_entity: BillingEntityDetails });
export const BillingEntityList = z.object({ billing_entities: z.array(BillingEntityView) });
