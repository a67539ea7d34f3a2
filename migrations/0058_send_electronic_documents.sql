-- Why: electronic documents are sent to their receivers through an access point. A connection to one is an integration
--   of its own category, of which an organization has one, so that it is clear which one takes a document. Each sending
--   is a row: under its id the access point knows the document, however often it is sent. One document has at most one
--   sending that may still arrive or has arrived; the database refuses a second one.
-- Locks: integrations for the time of a changed check over few rows and of an index over none; a new table.

alter table integrations drop constraint integrations_category_check;
alter table integrations add constraint integrations_category_check
  check (category in ('tax', 'accounting', 'crm', 'e_invoicing'));
create unique index integrations_access_point_key on integrations (organization_id)
  where category = 'e_invoicing' and deleted_at is null;

create table e_document_transmissions (
  id uuid constraint e_document_transmissions_pkey primary key,
  organization_id uuid not null
    constraint e_document_transmissions_organization_id_fkey references organizations deferrable,
  e_document_id uuid not null
    constraint e_document_transmissions_e_document_id_fkey references e_documents deferrable,
  integration_id uuid not null
    constraint e_document_transmissions_integration_id_fkey references integrations deferrable,
  provider_id text,
  status text not null default 'queued',
  attempts integer not null default 0,
  error jsonb,
  ignored_reports integer not null default 0,
  queued_at timestamptz not null,
  next_at timestamptz,
  looked_at timestamptz,
  sent_at timestamptz,
  delivered_at timestamptz,
  answered_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint e_document_transmissions_status_check check
    (status in ('queued', 'sent', 'delivered', 'accepted', 'rejected', 'paid_reported', 'failed')),
  constraint e_document_transmissions_sent_check check (status in ('queued', 'failed') or provider_id is not null)
);
create unique index e_document_transmissions_provider_key
  on e_document_transmissions (organization_id, integration_id, provider_id) where provider_id is not null;
create unique index e_document_transmissions_open_key
  on e_document_transmissions (organization_id, e_document_id) where status not in ('rejected', 'failed');
create index e_document_transmissions_document_idx on e_document_transmissions (organization_id, e_document_id, id);
create index e_document_transmissions_due_idx
  on e_document_transmissions (organization_id, next_at) where next_at is not null;
comment on table e_document_transmissions is
  'What was sent to an access point and what became of it; one a document that has neither failed nor been rejected.';
alter table e_document_transmissions alter column organization_id set statistics 0;
