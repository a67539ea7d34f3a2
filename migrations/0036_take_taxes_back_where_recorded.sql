-- Why: a record of an invoice, fee or note may lie at an engine although nobody read its answer, and a customer may
-- have moved to another engine since. So a question keeps when and with what content it was called, and each engine has
-- questions of its own. A question that nobody wants answered any more is dropped, which tells it from one that failed.
-- Locks: tax_documents for as long as its constraints and indexes are built; some seconds for a million rows.

alter table tax_documents
  add column called_at timestamptz,
  add column leased_until timestamptz,
  add column sent_document jsonb;
comment on column tax_documents.called_at is 'First call since the engine holds, or may hold, the document.';
comment on column tax_documents.leased_until is 'Until then a call may be under way: no other about this document.';
comment on column tax_documents.sent_document is 'What the latest call has sent.';
update tax_documents set called_at = asked_at, sent_document = document
where kind in ('record', 'correct') and (attempts > 0 or status = 'answered');

alter table tax_documents drop constraint tax_documents_status_check;
alter table tax_documents add constraint tax_documents_status_check
  check (status in ('pending', 'answered', 'refused', 'given_up', 'dropped'));
alter table tax_documents drop constraint tax_documents_document_key;
alter table tax_documents add constraint tax_documents_document_key
  unique (organization_id, document_key, kind, integration_id);

drop index tax_documents_refused;
create index tax_documents_open_of_customer on tax_documents (organization_id, customer_id, id)
  where status in ('pending', 'refused', 'given_up');
create index tax_documents_open_of_integration on tax_documents (organization_id, integration_id, id)
  where status in ('pending', 'refused', 'given_up');
create index tax_documents_fee on tax_documents (organization_id, fee_id) where fee_id is not null;
create index tax_documents_note on tax_documents (organization_id, credit_note_id) where credit_note_id is not null;
create index tax_documents_old_estimates on tax_documents (updated_at) where kind = 'estimate';

-- A customer that became a partner kept its link; partners bill by themselves, and no engine taxes them.
delete from integration_customers link using customers customer
where customer.id = link.customer_id and customer.account_type = 'partner';
