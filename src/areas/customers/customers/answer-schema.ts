import { z } from 'zod';
import { PROFILES } from '../../../engine/e-documents/profiles.ts';
import { PageMeta } from '../../../platform/lists/pagination.ts';
import { CONTRACT_PROVIDERS } from '../../../platform/payments/contract-providers.ts';
import { TaxView } from '../../catalog/taxes/view.ts';
import { EInvoicingView } from '../e-invoicing.ts';
import { SectionView } from '../invoice-custom-sections/schema.ts';
import {
  ACCOUNT_TYPES,
  CUSTOMER_TYPES,
  ISSUING_DATE_ADJUSTMENTS,
  ISSUING_DATE_ANCHORS,
  PROVIDER_PAYMENT_METHODS,
  ZERO_AMOUNT_OPTIONS,
} from './schema.ts';

const nullableText = z.string().nullable();
const AddressView = z.object({
  address_line1: nullableText,
  address_line2: nullableText,
  city: nullableText,
  state: nullableText,
  zipcode: nullableText,
  country: nullableText,
});

export const CustomerMetadataView = z.object({
  svc_id: z.uuid(),
  key: z.string(),
  value: z.string(),
  display_in_invoice: z.boolean(),
  created_at: z.iso.datetime(),
});

/** A customer as other documents embed it. */
export const CustomerBaseView = z.object({
  svc_id: z.uuid(),
  sequential_id: z.int(),
  slug: z.string(),
  external_id: z.string(),
  billing_entity_code: z.string(),
  account_type: z.enum(ACCOUNT_TYPES),
  customer_type: z.enum(CUSTOMER_TYPES).nullable(),
  name: nullableText,
  firstname: nullableText,
  lastname: nullableText,
  legal_name: nullableText,
  legal_number: nullableText,
  tax_identification_number: nullableText,
  email: nullableText,
  phone: nullableText,
  url: nullableText,
  logo_url: nullableText,
  ...AddressView.shape,
  shipping_address: AddressView,
  currency: nullableText,
  timezone: nullableText,
  applicable_timezone: z.string(),
  net_payment_term: z.int().nullable(),
  finalize_zero_amount_invoice: z.enum(ZERO_AMOUNT_OPTIONS),
  skip_invoice_custom_sections: z.boolean(),
  external_salesforce_id: nullableText,
  billing_configuration: z.object({
    invoice_grace_period: z.int().optional(),
    subscription_invoice_issuing_date_anchor: z.enum(ISSUING_DATE_ANCHORS).nullable(),
    subscription_invoice_issuing_date_adjustment: z.enum(ISSUING_DATE_ADJUSTMENTS).nullable(),
    document_locale: z.string().optional(),
    payment_provider: z.enum(CONTRACT_PROVIDERS).optional(),
    payment_provider_code: z.string().optional(),
    provider_customer_id: z.string().optional(),
    provider_payment_methods: z.array(z.enum(PROVIDER_PAYMENT_METHODS)).optional(),
  }),
  // Absent while nothing was said about electronic documents.
  e_invoicing: EInvoicingView.optional(),
  e_document_profile: z.enum(PROFILES).optional(),
  metadata: z.array(CustomerMetadataView),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type CustomerBaseView = z.infer<typeof CustomerBaseView>;

const IntegrationCustomerView = z.object({
  svc_id: z.uuid(),
  type: z.enum(['netsuite', 'anrok', 'avalara', 'xero', 'hubspot', 'salesforce']),
  category: z.enum(['tax', 'accounting', 'crm']),
  integration_code: z.string(),
  external_customer_id: z.string(),
  is_default: z.boolean(),
});

const ErrorDetailView = z.object({
  svc_id: z.uuid(),
  error_code: z.enum(['not_provided', 'tax_error', 'tax_voiding_error', 'invoice_generation_error']),
  details: z.record(z.string(), z.string()),
});

/** A customer of a list. */
export const CustomerListView = CustomerBaseView.extend({
  integration_customers: z.array(IntegrationCustomerView),
  taxes: z.array(TaxView),
});

/** A customer read by its id. */
export const CustomerView = CustomerListView.extend({
  applicable_invoice_custom_sections: z.array(SectionView),
  error_details: z.array(ErrorDetailView),
});
export type CustomerView = z.infer<typeof CustomerView>;

export const CustomerEnvelope = z.object({ customer: CustomerView });
export const CustomerList = z.object({ customers: z.array(CustomerListView), meta: PageMeta });
export const PortalUrlEnvelope = z.object({ customer: z.object({ portal_url: z.url() }) });
export const CheckoutUrlEnvelope = z.object({
  customer: z.object({
    svc_customer_id: z.uuid(),
    external_customer_id: z.string(),
    payment_provider: z.enum(CONTRACT_PROVIDERS),
    payment_provider_code: z.string(),
    checkout_url: z.url(),
  }),
});
