import { seconds } from '../../../platform/schema/view.ts';
import type { TaxRow } from '../../catalog/taxes/queries.ts';
import { taxView } from '../../catalog/taxes/view.ts';
import type { BillingEntityRow } from '../../customers/billing-entities/queries.ts';
import type { OrganizationRow } from './queries.ts';
import type { OrganizationView } from './schema.ts';

/**
 * An organization as the API shows it: currency, zone and taxes are its default billing entity's (organizations.md).
 */
export const organizationView = (
  organization: OrganizationRow,
  entity: BillingEntityRow,
  taxes: TaxRow[],
  webhookUrls: string[],
): OrganizationView => ({
  svc_id: organization.id,
  name: organization.name,
  slug: organization.slug,
  sandbox: organization.sandbox,
  default_currency: entity.default_currency,
  created_at: seconds(organization.created_at),
  webhook_url: webhookUrls[0] ?? '',
  webhook_urls: webhookUrls,
  country: organization.country,
  address_line1: organization.address_line1,
  address_line2: organization.address_line2,
  state: organization.state,
  zipcode: organization.zipcode,
  email: organization.email,
  city: organization.city,
  legal_name: organization.legal_name,
  legal_number: organization.legal_number,
  timezone: entity.timezone,
  net_payment_term: organization.net_payment_term,
  email_settings: organization.email_settings as OrganizationView['email_settings'],
  document_numbering: organization.document_numbering,
  document_number_prefix: organization.document_number_prefix,
  tax_identification_number: organization.tax_identification_number,
  finalize_zero_amount_invoice: organization.finalize_zero_amount_invoice,
  billing_configuration: {
    invoice_footer: organization.invoice_footer,
    invoice_grace_period: organization.invoice_grace_period,
    document_locale: organization.document_locale,
  },
  events_store: 'postgres',
  taxes: taxes.map(taxView),
});
