-- Why: rendered documents of invoices, credit notes and receipts, kept as they were first handed out (subscriptions-and-
-- invoices F.10), the billing entity as an invoice prints it, and custom sections with where they are selected and the
-- snapshots that invoices keep of them (F.9).
-- Locks: new tables; the new column of invoices has no default, so it is added in an instant.

-- One document per subject, whatever happens to its parties afterwards. Without content it is still being made; a job
-- makes it, and the sweeper finds those whose job was lost.
create table documents (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  kind text not null check (kind in ('invoice', 'credit_note', 'payment_receipt')),
  subject_id uuid not null,
  file_name text not null,
  content bytea,
  requested_at timestamptz not null,
  enqueued_at timestamptz not null,
  rendered_at timestamptz,
  constraint documents_subject_key unique (organization_id, kind, subject_id)
);
create index documents_pending on documents (enqueued_at) where content is null;

-- The issuer as printed, frozen when finalized as the customer is.
alter table invoices add column issuer_snapshot jsonb;

create table invoice_custom_sections (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  code text not null,
  name text not null,
  description text,
  details text,
  display_name text,
  section_type text not null default 'manual' check (section_type in ('manual', 'system_generated')),
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index invoice_custom_sections_code_key on invoice_custom_sections (organization_id, code)
  where deleted_at is null;
create index invoice_custom_sections_newest on invoice_custom_sections (organization_id, created_at desc, id desc)
  where deleted_at is null;

-- Who selects a section. Owners of all kinds share one table, since all select in the same way.
create table invoice_custom_section_selections (
  organization_id uuid not null,
  owner_type text not null check (owner_type in ('billing_entity', 'customer', 'subscription', 'wallet',
    'recurring_transaction_rule', 'wallet_transaction')),
  owner_id uuid not null,
  section_id uuid not null references invoice_custom_sections (id),
  created_at timestamptz not null,
  primary key (organization_id, owner_type, owner_id, section_id)
);
create index invoice_custom_section_selections_section on invoice_custom_section_selections (organization_id, section_id);

-- Owners that want no section at all; of customers their own column says so.
create table invoice_custom_section_skips (
  organization_id uuid not null,
  owner_type text not null,
  owner_id uuid not null,
  primary key (organization_id, owner_type, owner_id)
);

-- What an invoice prints: later changes of a section do not reach it.
create table applied_invoice_custom_sections (
  id uuid primary key,
  organization_id uuid not null,
  invoice_id uuid not null references invoices (id) on delete cascade,
  code text not null,
  name text not null,
  display_name text,
  details text,
  created_at timestamptz not null,
  constraint applied_invoice_custom_sections_code_key unique (organization_id, invoice_id, code)
);
