-- Why: a document that was handed out could still be changed in the columns that its trigger did not compare, and be
-- truncated away with everything else that is never deleted. A document that can never be drawn was drawn again every
-- two minutes. The invoice of credits that were paid first never kept the seller of the day on which it became final.
-- Locks: each table for an instant; invoices without a seller are updated, which is those of credits paid first.

create or replace function refuse_change_of_e_document() returns trigger language plpgsql as $$
begin
  if old.content is null then return case tg_op when 'DELETE' then old else new end; end if;
  if tg_op = 'DELETE' then
    if old.retain_until >= (clock_timestamp() at time zone 'UTC')::date then
      raise exception 'electronic document % is kept until %', old.id, old.retain_until
        using errcode = 'restrict_violation';
    end if;
    return old;
  end if;
  if new is distinct from old then
    raise exception 'electronic document % was handed out and never changes', old.id
      using errcode = 'restrict_violation';
  end if;
  return new;
end $$;

create function refuse_truncation() returns trigger language plpgsql as $$
declare is_filled boolean;
begin
  execute format('select exists (select from %I)', tg_table_name) into is_filled;
  if is_filled then
    raise exception 'rows of % are never changed or deleted', tg_table_name using errcode = 'restrict_violation';
  end if;
  return null;
end $$;
comment on function refuse_truncation() is 'Keeps tables whose rows are never deleted from being emptied at once.';
create trigger e_documents_kept before truncate on e_documents
  for each statement execute function refuse_truncation();
create trigger archive_chain_kept before truncate on archive_chain
  for each statement execute function refuse_truncation();
create trigger ledger_transactions_kept before truncate on ledger_transactions
  for each statement execute function refuse_truncation();
create trigger ledger_entries_kept before truncate on ledger_entries
  for each statement execute function refuse_truncation();

alter table documents add column given_up_at timestamptz;
comment on column documents.given_up_at is 'When every try to draw it had failed; asking for it again tries again.';

update invoices invoice set issuer_snapshot = jsonb_build_object('name', entity.name, 'legal_name', entity.legal_name,
  'address_line1', entity.address_line1, 'address_line2', entity.address_line2, 'city', entity.city,
  'state', entity.state, 'zipcode', entity.zipcode, 'country', entity.country, 'email', entity.email,
  'phone', entity.phone, 'legal_number', entity.legal_number,
  'tax_identification_number', entity.tax_identification_number, 'invoice_footer', entity.invoice_footer,
  'document_locale', entity.document_locale, 'e_invoicing', entity.e_invoicing,
  'e_document_profile', entity.e_document_profile, 'bank_accounts', entity.bank_accounts,
  'einvoicing', entity.einvoicing)
from billing_entities entity
where entity.organization_id = invoice.organization_id and entity.id = invoice.billing_entity_id
  and invoice.status in ('finalized', 'voided') and invoice.issuer_snapshot is null;
