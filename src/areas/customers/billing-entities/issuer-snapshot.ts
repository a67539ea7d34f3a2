import type { Db } from '../../../platform/db/connect.ts';

/**
 * The columns of `entity` that the documents of an invoice state, as they are frozen when it becomes final; its logo
 * apart, which would be copied with every invoice. Rule: e-documents.md#facts.
 */
export const issuerSnapshot = (db: Db) => db`
  jsonb_build_object('name', entity.name, 'legal_name', entity.legal_name, 'address_line1', entity.address_line1,
    'address_line2', entity.address_line2, 'city', entity.city, 'state', entity.state, 'zipcode', entity.zipcode,
    'country', entity.country, 'email', entity.email, 'phone', entity.phone, 'legal_number', entity.legal_number,
    'tax_identification_number', entity.tax_identification_number, 'invoice_footer', entity.invoice_footer,
    'document_locale', entity.document_locale, 'e_invoicing', entity.e_invoicing, 'e_document_profile',
    entity.e_document_profile, 'bank_accounts', entity.bank_accounts, 'einvoicing', entity.einvoicing)`;
