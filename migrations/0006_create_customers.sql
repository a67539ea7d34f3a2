-- Why: billing entities, customers, their taxes, provider connections and payment methods, sections of text.
-- Locks: only new tables.

create table billing_entities (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  code text not null,
  name text not null,
  default_currency text not null default 'USD',
  country text, address_line1 text, address_line2 text, city text, state text, zipcode text, phone text,
  email text, legal_name text, legal_number text, tax_identification_number text,
  timezone text not null default 'UTC',
  net_payment_term integer not null default 0 check (net_payment_term >= 0),
  email_settings text[] not null default '{}',
  document_numbering text not null default 'per_customer'
    check (document_numbering in ('per_customer', 'per_billing_entity')),
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
  dunning_campaign_id uuid,
  -- greatest number given to an invoice of the entity, and to its self-billed ones apart; see invoices
  invoices_sequence bigint not null default 0,
  archived_at timestamptz,
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table billing_entities is 'Legal entities of an organization that issue invoices.';
create unique index billing_entities_code_key on billing_entities (organization_id, code) where deleted_at is null;

create table billing_entity_taxes (
  organization_id uuid not null,
  billing_entity_id uuid not null references billing_entities (id),
  tax_id uuid not null references taxes (id),
  primary key (organization_id, billing_entity_id, tax_id)
);
comment on table billing_entity_taxes is 'Taxes that apply by default to the customers of a billing entity.';

create table payment_providers (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  provider_type text not null,
  -- the provider of the contract whose words a sandbox connection speaks
  emulates text,
  code text not null,
  name text not null,
  success_redirect_url text,
  -- sealed texts by name, and their last four characters
  secrets jsonb not null default '{}',
  secrets_last4 jsonb not null default '{}',
  settings jsonb not null default '{}',
  status text not null check (status in ('connected', 'unverified', 'failing')),
  last_error text,
  inbound_endpoint_id text,
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table payment_providers is 'Connections to payment providers. Secrets are sealed.';
create unique index payment_providers_code_key on payment_providers (organization_id, code) where deleted_at is null;

create table customers (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  billing_entity_id uuid not null references billing_entities (id),
  external_id text not null,
  sequential_id bigint not null,
  slug text not null,
  account_type text not null default 'customer' check (account_type in ('customer', 'partner')),
  customer_type text check (customer_type in ('company', 'individual')),
  name text, firstname text, lastname text, legal_name text, legal_number text,
  tax_identification_number text, email text, phone text, url text, logo_url text, address_line1 text,
  address_line2 text, city text, state text, zipcode text, country text, shipping_address_line1 text,
  shipping_address_line2 text, shipping_city text, shipping_state text, shipping_zipcode text,
  shipping_country text, currency text, timezone text,
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
  document_locale text, payment_provider text, payment_provider_code text,
  payment_provider_id uuid references payment_providers (id),
  provider_customer_id text,
  provider_payment_methods text[] not null default '{card}',
  wallets_to_refresh boolean not null default false,
  dunning_campaign_id uuid,
  exclude_from_dunning boolean not null default false,
  last_dunning_attempt_at timestamptz,
  payment_receipts_count bigint not null default 0,
  erased_at timestamptz,
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint customers_sequential_id_key unique (organization_id, sequential_id)
);
comment on table customers is 'Customers of an organization, known to it by external_id.';
create unique index customers_external_id_key on customers (organization_id, external_id) where deleted_at is null;
create index customers_newest on customers (organization_id, created_at desc, id desc) where deleted_at is null;

create table customer_numbers (
  organization_id uuid not null references organizations (id) on delete cascade,
  number bigint not null,
  primary key (organization_id, number)
);
comment on table customer_numbers is
  'Free numbers of customers. A new customer takes the lowest one that no other transaction '
  'is taking, so that customers can be made side by side; a rollback gives it back.';

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
comment on table customer_metadata is 'Free texts of a customer, some of which are printed on invoices.';

create table customer_taxes (
  organization_id uuid not null,
  customer_id uuid not null references customers (id),
  tax_id uuid not null references taxes (id),
  primary key (organization_id, customer_id, tax_id)
);
comment on table customer_taxes is 'Taxes of a customer, in place of those of its billing entity.';

create table payment_methods (
  id uuid primary key,
  organization_id uuid not null,
  customer_id uuid not null references customers (id),
  payment_provider_id uuid not null references payment_providers (id),
  provider_customer_id text not null,
  provider_method_id text not null,
  method_type text not null,
  details jsonb not null default '{}',
  is_default boolean not null default false,
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table payment_methods is 'Stored payment methods of customers, as references to their provider.';
create unique index payment_methods_method_key
  on payment_methods (organization_id, payment_provider_id, provider_customer_id, provider_method_id)
  where deleted_at is null;
create unique index payment_methods_default_key on payment_methods (organization_id, customer_id)
  where is_default and deleted_at is null;

create table vies_checks (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  customer_id uuid not null references customers (id),
  tax_identification_number text not null,
  status text not null check (status in ('pending', 'valid', 'invalid')),
  -- taxes that came with the number: the customer holds them beside the one that the answer gives
  tax_ids uuid[] not null default '{}',
  attempts integer not null default 0,
  last_error text,
  -- in real time; null once it is answered
  next_attempt_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint vies_checks_customer_key unique (organization_id, customer_id),
  constraint vies_checks_pending check ((status = 'pending') = (next_attempt_at is not null))
);
comment on table vies_checks is 'Checks of VAT numbers in the EU register, tried again until the register answers.';
create index vies_checks_due on vies_checks (next_attempt_at) where status = 'pending';

create table invoice_custom_sections (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  code text not null,
  name text not null,
  description text, details text, display_name text,
  section_type text not null default 'manual' check (section_type in ('manual', 'system_generated')),
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table invoice_custom_sections is 'Texts that organizations add to their invoices.';
create unique index invoice_custom_sections_code_key on invoice_custom_sections (organization_id, code)
  where deleted_at is null;
create index invoice_custom_sections_newest
  on invoice_custom_sections (organization_id, created_at desc, id desc) where deleted_at is null;

create table invoice_custom_section_selections (
  id uuid not null,
  organization_id uuid not null,
  owner_type text not null
    check (owner_type in ('billing_entity', 'customer', 'subscription', 'wallet', 'recurring_transaction_rule',
    'wallet_transaction')),
  owner_id uuid not null,
  section_id uuid not null references invoice_custom_sections (id),
  created_at timestamptz not null,
  primary key (organization_id, owner_type, owner_id, section_id)
);
comment on table invoice_custom_section_selections is
  'Who selects a section. Owners of all kinds share one table, since all select in the same way.';
create index invoice_custom_section_selections_section
  on invoice_custom_section_selections (organization_id, section_id);
