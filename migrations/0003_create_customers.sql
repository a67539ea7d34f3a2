-- Why: customers, and the taxes that customers, billing entities and prices carry.
-- Locks: only new tables.
create table customers (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  billing_entity_id uuid not null references billing_entities (id),
  external_id text not null,
  sequential_id bigint not null,
  slug text not null,
  account_type text not null default 'customer' check (account_type in ('customer', 'partner')),
  customer_type text check (customer_type in ('company', 'individual')),
  name text, firstname text, lastname text, legal_name text, legal_number text, tax_identification_number text,
  email text, phone text, url text, logo_url text,
  address_line1 text, address_line2 text, city text, state text, zipcode text, country text,
  shipping_address_line1 text, shipping_address_line2 text, shipping_city text, shipping_state text,
  shipping_zipcode text, shipping_country text,
  currency text,
  timezone text,
  net_payment_term integer check (net_payment_term >= 0),
  finalize_zero_amount_invoice text not null default 'inherit'
    check (finalize_zero_amount_invoice in ('inherit', 'skip', 'finalize')),
  skip_invoice_custom_sections boolean not null default false,
  external_salesforce_id text,
  invoice_grace_period integer check (invoice_grace_period >= 0),
  subscription_invoice_issuing_date_anchor text
    check (subscription_invoice_issuing_date_anchor in ('next_period_start', 'current_period_end')),
  subscription_invoice_issuing_date_adjustment text
    check (subscription_invoice_issuing_date_adjustment in ('align_with_finalization_date', 'keep_anchor')),
  document_locale text,
  payment_provider text,
  payment_provider_code text,
  provider_customer_id text,
  provider_payment_methods text[] not null default '{card}',
  -- sequential_id of the customer's newest numbered invoice per billing entity lives in customer_invoice_sequences
  wallets_to_refresh boolean not null default false,
  erased_at timestamptz,
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint customers_sequential_id_key unique (organization_id, sequential_id)
);
create unique index customers_external_id_key on customers (organization_id, external_id) where deleted_at is null;
create index customers_newest on customers (organization_id, created_at desc, id desc) where deleted_at is null;

create table customer_metadata (
  id uuid primary key,
  organization_id uuid not null,
  customer_id uuid not null references customers (id) on delete cascade,
  key text not null,
  value text not null,
  display_in_invoice boolean not null default false,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint customer_metadata_key_key unique (organization_id, customer_id, key)
);

create table taxes (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  code text not null,
  name text not null,
  description text,
  rate numeric(30, 10) not null check (rate >= 0),
  auto_generated boolean not null default false,
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index taxes_code_key on taxes (organization_id, code) where deleted_at is null;

create table billing_entity_taxes (
  organization_id uuid not null,
  billing_entity_id uuid not null references billing_entities (id),
  tax_id uuid not null references taxes (id),
  primary key (organization_id, billing_entity_id, tax_id)
);
create table customer_taxes (
  organization_id uuid not null,
  customer_id uuid not null references customers (id),
  tax_id uuid not null references taxes (id),
  primary key (organization_id, customer_id, tax_id)
);
