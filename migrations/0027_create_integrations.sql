-- Why: connections to tax engines, which customers are taxed by them, the documents that engines are asked about, and
-- what engines say in place of our own rates.
-- Locks: new tables; columns without a default that rewrites, so tables that exist are locked for a moment only.

create table integrations (
  id uuid primary key,
  organization_id uuid not null references organizations (id) deferrable,
  integration_type text not null,
  category text not null check (category in ('tax', 'accounting', 'crm')),
  code text not null,
  name text not null,
  -- sealed texts by name, and their last four characters
  secrets jsonb not null default '{}',
  secrets_last4 jsonb not null default '{}',
  settings jsonb not null default '{}',
  live boolean not null,
  status text not null check (status in ('connected', 'unverified', 'failing')),
  last_error text,
  -- calls in a row that the other side answered 401 or 403
  unauthorized_calls integer not null default 0,
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table integrations is 'Connections to other systems, such as tax engines. Secrets are sealed.';
create unique index integrations_code_key on integrations (organization_id, code) where deleted_at is null;

create table integration_mappings (
  id uuid primary key,
  organization_id uuid not null,
  integration_id uuid not null references integrations (id) deferrable,
  resource_type text not null
    check (resource_type in ('billable_metric', 'plan', 'add_on', 'fixed_charge', 'commitment', 'default')),
  -- empty for the default
  resource_code text not null,
  external_id text not null,
  external_name text,
  created_at timestamptz not null,
  constraint integration_mappings_resource_key unique (organization_id, integration_id, resource_type, resource_code)
);
comment on table integration_mappings is 'Names that another system has for what is sold.';

create table integration_customers (
  id uuid primary key,
  organization_id uuid not null,
  customer_id uuid not null references customers (id) on delete cascade deferrable,
  integration_id uuid not null references integrations (id) deferrable,
  category text not null,
  external_customer_id text not null,
  settings jsonb not null default '{}',
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint integration_customers_category_key unique (organization_id, customer_id, category)
);
comment on table integration_customers is 'Customers as other systems know them: one of each category at most.';
create index integration_customers_integration on integration_customers (organization_id, integration_id);

create table integration_calls (
  id uuid primary key,
  organization_id uuid not null,
  integration_id uuid not null references integrations (id) on delete cascade deferrable,
  operation text not null,
  resource_id uuid,
  http_status integer,
  duration_ms integer not null,
  error text,
  -- of a failure, redacted
  body text,
  created_at timestamptz not null
);
comment on table integration_calls is 'Calls to other systems of the last 30 days.';
create index integration_calls_newest on integration_calls (organization_id, integration_id, created_at desc, id desc);
create index integration_calls_age on integration_calls (created_at);

create table tax_documents (
  id uuid primary key,
  organization_id uuid not null references organizations (id) deferrable,
  integration_id uuid not null references integrations (id) deferrable,
  customer_id uuid not null references customers (id) deferrable,
  kind text not null check (kind in ('estimate', 'record', 'correct', 'void')),
  -- the id by which the engine knows it
  document_key text not null,
  invoice_id uuid references invoices (id) on delete cascade deferrable,
  fee_id uuid references fees (id) on delete cascade deferrable,
  credit_note_id uuid references credit_notes (id) on delete cascade deferrable,
  -- rises when it is asked with other content: the answer to the former content is void
  version integer not null default 0,
  -- of an estimate: the computation of the draft that it is about, see invoices
  tax_version integer,
  -- what is sent, stored before the call: after a crash the same id goes with the same content
  document jsonb,
  answer jsonb,
  status text not null check (status in ('pending', 'answered', 'refused', 'given_up')),
  attempts integer not null default 0,
  asked_at timestamptz not null,
  -- when people were told that it failed
  told_at timestamptz,
  -- null unless it is pending
  next_attempt_at timestamptz,
  error_code text,
  error_message text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint tax_documents_document_key unique (organization_id, document_key, kind),
  constraint tax_documents_pending check ((status = 'pending') = (next_attempt_at is not null))
);
comment on table tax_documents is 'Documents that a tax engine is, or was, asked about.';
create index tax_documents_due on tax_documents (next_attempt_at) where status = 'pending';
create index tax_documents_refused on tax_documents (organization_id, customer_id, id) where status = 'refused';
create index tax_documents_invoice on tax_documents (organization_id, invoice_id) where invoice_id is not null;

create table credit_note_error_details (
  id uuid primary key,
  organization_id uuid not null,
  credit_note_id uuid not null references credit_notes (id) on delete cascade deferrable,
  error_code text not null check (error_code in ('tax_error')),
  details jsonb not null default '{}',
  created_at timestamptz not null
);
comment on table credit_note_error_details is 'Why a credit note could not be reported to a tax engine.';
create index credit_note_error_details_note on credit_note_error_details (organization_id, credit_note_id);

alter table invoices
  add column tax_version integer not null default 0,
  add column tax_integration_id uuid references integrations (id) deferrable;
comment on column invoices.tax_version is 'Rises with each computation: the answer about an older one is void.';
comment on column invoices.tax_integration_id is 'The tax engine whose answer the taxes are.';

alter table fee_applied_taxes add column base_rate numeric(30, 4);
comment on column fee_applied_taxes.base_rate is 'The share of the fee that a tax engine taxed; null: all of it.';
alter table invoice_applied_taxes add column taxable_base_amount_cents bigint;
comment on column invoice_applied_taxes.taxable_base_amount_cents is
  'The part of fees_amount_cents that a tax engine taxed; null: all of it.';
