-- Why: facts that electronic documents state beyond what a printed invoice shows: addresses in networks, registers,
-- references of the buyer, bank accounts, categories of value added tax, codes of units, and the profile that a
-- customer or a billing entity chose. Locks: a short exclusive lock on each table; no row is rewritten.
alter table billing_entities
  add column e_invoicing jsonb,
  add column e_document_profile text,
  add column bank_accounts jsonb not null default '[]',
  add constraint billing_entities_e_document_profile_check check (e_document_profile in
    ('en16931_ubl', 'en16931_cii', 'peppol_bis3', 'xrechnung_ubl', 'xrechnung_cii', 'facturx'));

alter table customers
  add column e_invoicing jsonb,
  add column e_document_profile text,
  add constraint customers_e_document_profile_check check (e_document_profile in
    ('en16931_ubl', 'en16931_cii', 'peppol_bis3', 'xrechnung_ubl', 'xrechnung_cii', 'facturx'));

alter table taxes
  add column vat_category text,
  add column exemption_code text,
  add column exemption_text text,
  add column not_vat boolean not null default false,
  add constraint taxes_vat_category_check check (vat_category in ('S', 'Z', 'E', 'AE', 'K', 'G', 'O'));

alter table billable_metrics add column unit_code text;
alter table add_ons add column unit_code text;
alter table subscriptions add column buyer_reference text;
alter table invoices add column buyer_reference text;
