-- Why: an XML for which nobody had chosen a profile was kept as a page is: outside the archive, and not cancelled by a
--   void. It becomes the document of its invoice or note in the profile en16931_ubl. What was handed out stays as it
--   is, byte for byte, and comes into the archive on the day of this migration: former days of the chain are closed.
-- A customer who comes back from the page of a bank brings what its provider has to be told; a payment keeps it until
--   the provider has answered.
-- Locks: e_documents, documents and payments for an instant each; the XML that was made until now is copied, with its
--   contents.

alter table e_documents add column is_by_default boolean not null default false;
comment on column e_documents.is_by_default is
  'download_xml made it and nobody chose or named its profile: what its rules find only fills problems.';

alter table payments add column customer_return jsonb;
comment on column payments.customer_return is
  'What a customer brought back from the page of a bank, until the provider has answered it; null: nothing.';

insert into e_documents (id, organization_id, billing_entity_id, customer_id, subject_type, subject_id, kind, number,
  issued_on, profile, is_chosen, is_by_default, status, file_name, content_type, content, sha256, size, problems,
  retain_until, enqueued_at, ready_at, created_at, updated_at)
select file.id, file.organization_id, subject.billing_entity_id, subject.customer_id, subject.type, file.subject_id,
  'document', subject.number, subject.issuing_date, 'en16931_ubl', false, true,
  case when file.content is null then 'pending' else 'ready' end, file.file_name, file.content_type, file.content,
  encode(sha256(file.content), 'hex'), octet_length(file.content),
  case when file.content is null then '[]' else jsonb_build_array(jsonb_build_object('rule', 'stated_before_archive',
    'severity', 'warning', 'resource', subject.resource, 'field', 'svc_id',
    'text', 'It was made before such documents were archived, and states fewer facts.')) end,
  (date_trunc('year', subject.issuing_date::timestamp) + interval '11 years' - interval '1 day')::date,
  file.enqueued_at, case when file.content is not null then clock_timestamp() end, file.requested_at, file.requested_at
from documents file
join (
  select 'invoice_xml' as file_kind, 'Invoice' as type, 'invoice' as resource, organization_id, id, billing_entity_id,
    customer_id, number, issuing_date
  from invoices
  union all
  select 'credit_note_xml', 'CreditNote', 'credit_note', organization_id, id, billing_entity_id, customer_id, number,
    issuing_date
  from credit_notes
) subject on subject.file_kind = file.kind and subject.organization_id = file.organization_id
  and subject.id = file.subject_id
where file.kind in ('invoice_xml', 'credit_note_xml') and (file.content is not null or file.given_up_at is null)
on conflict on constraint e_documents_subject_key do nothing;

-- One beside which a document in that profile stands already is kept, but shown no more.
delete from documents file
where file.kind in ('invoice_xml', 'credit_note_xml') and (file.content is null or exists (
  select from e_documents document where document.organization_id = file.organization_id and document.id = file.id));
