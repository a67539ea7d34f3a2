import { seconds } from '../../../platform/schema/view.ts';
import type { TaxRow } from '../../catalog/taxes/queries.ts';
import { taxView } from '../../catalog/taxes/view.ts';
import { eInvoicingShown } from '../e-invoicing.ts';
import type { SectionRow } from '../invoice-custom-sections/queries.ts';
import { sectionView } from '../invoice-custom-sections/view.ts';
import type { CustomerBaseView, CustomerView } from './answer-schema.ts';
import type { CustomerRow } from './queries.ts';
import type { TaxErrorRow } from './tax-errors.ts';

/** A customer inside another document: its own fields and its metadata (customers.md#fields "response variants"). */
export const customerBaseView = (customer: CustomerRow): CustomerBaseView => ({
  svc_id: customer.id,
  sequential_id: customer.sequential_id,
  slug: customer.slug,
  external_id: customer.external_id,
  billing_entity_code: customer.billing_entity_code,
  account_type: customer.account_type,
  customer_type: customer.customer_type,
  name: customer.name,
  firstname: customer.firstname,
  lastname: customer.lastname,
  legal_name: customer.legal_name,
  legal_number: customer.legal_number,
  tax_identification_number: customer.tax_identification_number,
  email: customer.email,
  phone: customer.phone,
  url: customer.url,
  logo_url: customer.logo_url,
  address_line1: customer.address_line1,
  address_line2: customer.address_line2,
  city: customer.city,
  state: customer.state,
  zipcode: customer.zipcode,
  country: customer.country,
  shipping_address: {
    address_line1: customer.shipping_address_line1,
    address_line2: customer.shipping_address_line2,
    city: customer.shipping_city,
    state: customer.shipping_state,
    zipcode: customer.shipping_zipcode,
    country: customer.shipping_country,
  },
  currency: customer.currency,
  timezone: customer.timezone,
  applicable_timezone: customer.timezone ?? customer.billing_entity_timezone,
  net_payment_term: customer.net_payment_term,
  finalize_zero_amount_invoice: customer.finalize_zero_amount_invoice,
  skip_invoice_custom_sections: customer.skip_invoice_custom_sections,
  external_salesforce_id: customer.external_salesforce_id,
  billing_configuration: billingConfiguration(customer),
  ...eInvoicingShown(customer),
  metadata: customer.metadata,
  created_at: seconds(customer.created_at),
  updated_at: seconds(customer.updated_at),
});

// Keys that the contract does not allow to be null are omitted while unset.
const billingConfiguration = (customer: CustomerRow): CustomerBaseView['billing_configuration'] => ({
  ...present('invoice_grace_period', customer.invoice_grace_period),
  subscription_invoice_issuing_date_anchor: customer.subscription_invoice_issuing_date_anchor,
  subscription_invoice_issuing_date_adjustment: customer.subscription_invoice_issuing_date_adjustment,
  ...present('document_locale', customer.document_locale),
  ...present('payment_provider', customer.payment_provider),
  ...present('payment_provider_code', customer.payment_provider_code),
  ...present('provider_customer_id', customer.provider_customer_id),
  ...(customer.payment_provider === null
    ? {}
    : { provider_payment_methods: customer.provider_payment_methods as ProviderPaymentMethods }),
});

type ProviderPaymentMethods = CustomerBaseView['billing_configuration']['provider_payment_methods'];

const present = <Key extends string, Value>(key: Key, value: Value | null): Partial<Record<Key, Value>> =>
  value === null ? {} : ({ [key]: value } as Record<Key, Value>);

/** A customer in a webhook. */
export const customerWebhookView = (customer: CustomerRow) => ({
  ...customerBaseView(customer),
  integration_customers: customer.integration_customers,
});

/** A customer of a list. */
export const customerListView = (customer: CustomerRow, taxes: TaxRow[]) => ({
  ...customerWebhookView(customer),
  taxes: taxes.map(taxView),
});

/** A customer on its own; answers of commands show no errors, which other commands may be about to end. */
export const customerView = (
  customer: CustomerRow,
  taxes: TaxRow[],
  sections: SectionRow[] = [],
  errors: readonly TaxErrorRow[] = [],
): CustomerView => ({
  ...customerListView(customer, taxes),
  applicable_invoice_custom_sections: sections.map(sectionView),
  error_details: errors.map(({ id, error_code, details }) => ({ svc_id: id, error_code, details })),
});
