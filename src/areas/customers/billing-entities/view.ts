import { seconds } from '../../../platform/schema/view.ts';
import type { TaxRow } from '../../catalog/taxes/queries.ts';
import { taxView } from '../../catalog/taxes/view.ts';
import { eInvoicingShown } from '../e-invoicing.ts';
import type { SectionRow } from '../invoice-custom-sections/queries.ts';
import { sectionView } from '../invoice-custom-sections/view.ts';
import type { BillingEntityRow } from './queries.ts';
import type { BillingEntityDetails, BillingEntityView } from './schema.ts';

/** A billing entity as lists and its creation show it. */
export const billingEntityView = (entity: BillingEntityRow): BillingEntityView => ({
  svc_id: entity.id,
  code: entity.code,
  name: entity.name,
  default_currency: entity.default_currency,
  country: entity.country,
  address_line1: entity.address_line1,
  address_line2: entity.address_line2,
  city: entity.city,
  state: entity.state,
  zipcode: entity.zipcode,
  phone: entity.phone,
  email: entity.email,
  legal_name: entity.legal_name,
  legal_number: entity.legal_number,
  tax_identification_number: entity.tax_identification_number,
  timezone: entity.timezone,
  net_payment_term: entity.net_payment_term,
  email_settings: entity.email_settings as BillingEntityView['email_settings'],
  document_numbering: entity.document_numbering,
  document_number_prefix: entity.document_number_prefix,
  finalize_zero_amount_invoice: entity.finalize_zero_amount_invoice,
  invoice_footer: entity.invoice_footer,
  invoice_grace_period: entity.invoice_grace_period,
  subscription_invoice_issuing_date_anchor: entity.subscription_invoice_issuing_date_anchor,
  subscription_invoice_issuing_date_adjustment: entity.subscription_invoice_issuing_date_adjustment,
  document_locale: entity.document_locale,
  einvoicing: entity.einvoicing,
  eu_tax_management: entity.eu_tax_management,
  logo_url: entity.logo_url,
  ...eInvoicingShown(entity),
  ...(entity.bank_accounts.length === 0 ? {} : { bank_accounts: entity.bank_accounts }),
  is_default: entity.is_default,
  created_at: seconds(entity.created_at),
  updated_at: seconds(entity.updated_at),
});

/** A billing entity on its own. */
export const billingEntityDetails = (
  entity: BillingEntityRow,
  taxes: TaxRow[],
  sections: SectionRow[],
): BillingEntityDetails => ({
  ...billingEntityView(entity),
  taxes: taxes.map(taxView),
  selected_invoice_custom_sections: sections.map(sectionView),
});
