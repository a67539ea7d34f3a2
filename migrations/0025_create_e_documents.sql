-- Why: electronic documents as they were handed out, kept for ten years. Content is written once; neither it nor the
-- row can go before `retain_until`. Locks: creates tables only.
create table e_documents (
  id uuid primary key,
  organization_id uuid not null references organizations (id) deferrable,
  billing_entity_id uuid not null references billing_entities (id) deferrable,
  customer_id uuid not null references customers (id) deferrable,
  subject_type text not null,
  subject_id uuid not null,
  kind text not null default 'document',
  number text not null,
  issued_on date not null,
  profile text not null,
  is_chosen boolean not null,
  status text not null default 'pending',
  file_name text not null,
  content_type text not null,
  content bytea,
  sha256 text,
  size integer,
  engine_version integer,
  problems jsonb not null default '[]',
  retain_until date not null,
  enqueued_at timestamptz not null,
  ready_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint e_documents_subject_key unique (organization_id, subject_type, subject_id, kind, profile),
  constraint e_documents_subject_type_check check (subject_type in ('Invoice', 'CreditNote')),
  constraint e_documents_kind_check check (kind in ('document', 'cancellation')),
  constraint e_documents_profile_check check (profile in
    ('en16931_ubl', 'en16931_cii', 'peppol_bis3', 'xrechnung_ubl', 'xrechnung_cii', 'facturx')),
  constraint e_documents_status_check check (status in ('pending', 'ready', 'failed')),
  constraint e_documents_ready_check check ((status = 'ready') = (content is not null))
);
comment on table e_documents is
  'Electronic documents of invoices and credit notes, one per subject, kind and profile. Content is written once.';
create index e_documents_listed on e_documents (organization_id, created_at desc, id desc);
create index e_documents_pending on e_documents (enqueued_at) where status = 'pending';
create index e_documents_of_day on e_documents (organization_id, billing_entity_id, ready_at) where status = 'ready';

create function refuse_change_of_e_document() returns trigger language plpgsql as $$
begin
  if old.content is null then return case tg_op when 'DELETE' then old else new end; end if;
  if tg_op = 'DELETE' then
    if old.retain_until >= (clock_timestamp() at time zone 'UTC')::date then
      raise exception 'electronic document % is kept until %', old.id, old.retain_until
        using errcode = 'restrict_violation';
    end if;
    return old;
  end if;
  if (new.content, new.sha256, new.size, new.status, new.retain_until, new.ready_at, new.profile, new.subject_id)
    is distinct from
    (old.content, old.sha256, old.size, old.status, old.retain_until, old.ready_at, old.profile, old.subject_id) then
    raise exception 'electronic document % was handed out and never changes', old.id
      using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
comment on function refuse_change_of_e_document() is 'Keeps electronic documents as they were handed out.';
create trigger e_documents_frozen before update or delete on e_documents
  for each row execute function refuse_change_of_e_document();

create table archive_chain (
  organization_id uuid not null references organizations (id) deferrable,
  billing_entity_id uuid not null references billing_entities (id) deferrable,
  day date not null,
  count integer not null,
  root text not null,
  created_at timestamptz not null,
  primary key (organization_id, billing_entity_id, day)
);
comment on table archive_chain is
  'A hash for each billing entity and UTC day over the root before it and the documents that became ready that day.';
create trigger archive_chain_frozen before update or delete on archive_chain
  for each row execute function refuse_change();
