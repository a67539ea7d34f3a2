-- Why: the organization is the tenant; a key names it, a billing entity issues its documents.
-- Locks: only new tables.
create table organizations (
  id uuid primary key,
  name text not null,
  slug text not null constraint organizations_slug_key unique,
  hmac_key text not null,
  sandbox boolean not null default false,
  document_number_prefix text not null,
  document_numbering text not null default 'per_customer' check (document_numbering in ('per_customer', 'per_organization')),
  finalize_zero_amount_invoice boolean not null default true,
  country text, address_line1 text, address_line2 text, state text, zipcode text, city text,
  email text, legal_name text, legal_number text, tax_identification_number text,
  net_payment_term integer not null default 0,
  email_settings text[] not null default '{}',
  invoice_footer text,
  invoice_grace_period integer not null default 0,
  document_locale text not null default 'en',
  audit_logs_period_days integer not null default 30,
  rate_limit_events integer check (rate_limit_events > 0),
  rate_limit_current_usage integer check (rate_limit_current_usage > 0),
  rate_limit_default integer check (rate_limit_default > 0),
  rate_limit_events_bulk integer check (rate_limit_events_bulk > 0),
  rate_limit_access integer check (rate_limit_access > 0),
  usage_policies jsonb,
  -- raised by every change of metrics, charges and filters that storing an event looks at (performance-design 5.3)
  shapes_version bigint not null default 0,
  customers_count bigint not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create table api_keys (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  name text,
  value_digest bytea not null constraint api_keys_value_digest_key unique,
  last_four text not null,
  permissions jsonb not null,
  expires_at timestamptz,
  last_used_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index api_keys_organization on api_keys (organization_id, id);

create table billing_entities (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  code text not null,
  name text not null,
  default_currency text not null default 'USD',
  country text, address_line1 text, address_line2 text, city text, state text, zipcode text,
  phone text, email text, legal_name text, legal_number text, tax_identification_number text,
  timezone text not null default 'UTC',
  net_payment_term integer not null default 0 check (net_payment_term >= 0),
  email_settings text[] not null default '{}',
  document_numbering text not null default 'per_customer' check (document_numbering in ('per_customer', 'per_billing_entity')),
  document_number_prefix text not null,
  finalize_zero_amount_invoice boolean not null default true,
  invoice_footer text,
  invoice_grace_period integer not null default 0 check (invoice_grace_period >= 0),
  subscription_invoice_issuing_date_anchor text not null default 'next_period_start'
    check (subscription_invoice_issuing_date_anchor in ('next_period_start', 'current_period_end')),
  subscription_invoice_issuing_date_adjustment text not null default 'align_with_finalization_date'
    check (subscription_invoice_issuing_date_adjustment in ('align_with_finalization_date', 'keep_anchor')),
  document_locale text not null default 'en',
  einvoicing boolean not null default false,
  eu_tax_management boolean not null default false,
  logo_url text,
  -- greatest number given to an invoice of the entity, and to its self-billed ones apart; see invoices
  invoices_sequence bigint not null default 0,
  archived_at timestamptz,
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index billing_entities_code_key on billing_entities (organization_id, code) where deleted_at is null;
