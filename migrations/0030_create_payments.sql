-- Why: payments, how customers pay (connections, methods, hosted pages), payment requests, receipts, dunning, and what
-- providers tell us (credits-and-payments E, beyond 12, 13).
-- Locks: new tables; the added columns have constant defaults, so no table is rewritten.

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
create unique index payment_providers_code_key on payment_providers (organization_id, code) where deleted_at is null;

create table dunning_campaigns (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  code text not null,
  name text not null,
  description text,
  days_between_attempts integer not null check (days_between_attempts > 0),
  max_attempts integer not null check (max_attempts > 0),
  bcc_emails text[] not null default '{}',
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index dunning_campaigns_code_key on dunning_campaigns (organization_id, code) where deleted_at is null;

create table dunning_campaign_thresholds (
  id uuid primary key,
  organization_id uuid not null,
  dunning_campaign_id uuid not null references dunning_campaigns (id),
  amount_cents bigint not null check (amount_cents >= 0),
  currency text not null,
  constraint dunning_campaign_thresholds_currency_key unique (organization_id, dunning_campaign_id, currency)
);

create table customer_dunning_counters (
  organization_id uuid not null,
  customer_id uuid not null references customers (id),
  currency text not null,
  attempts integer not null check (attempts > 0),
  primary key (organization_id, customer_id, currency)
);

alter table customers
  add column payment_provider_id uuid references payment_providers (id),
  add column payment_receipts_count bigint not null default 0,
  add column dunning_campaign_id uuid references dunning_campaigns (id),
  add column exclude_from_dunning boolean not null default false,
  add column last_dunning_attempt_at timestamptz;
alter table billing_entities add column dunning_campaign_id uuid references dunning_campaigns (id);
alter table invoices add column payment_attempts integer not null default 0;

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
create unique index payment_methods_method_key
  on payment_methods (organization_id, payment_provider_id, provider_customer_id, provider_method_id) where deleted_at is null;
create unique index payment_methods_default_key on payment_methods (organization_id, customer_id)
  where is_default and deleted_at is null;

create table payment_requests (
  id uuid primary key,
  organization_id uuid not null,
  customer_id uuid not null references customers (id),
  billing_entity_id uuid not null references billing_entities (id),
  amount_cents bigint not null,
  amount_currency text not null,
  email text,
  payment_status text not null default 'pending' check (payment_status in ('pending', 'succeeded', 'failed')),
  payment_attempts integer not null default 0,
  ready_for_payment_processing boolean not null default true,
  payment_method_type text,
  payment_method_id uuid,
  dunning_campaign_id uuid references dunning_campaigns (id),
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index payment_requests_newest on payment_requests (organization_id, created_at desc, id desc);

create table payment_request_invoices (
  organization_id uuid not null,
  payment_request_id uuid not null references payment_requests (id),
  invoice_id uuid not null references invoices (id),
  primary key (organization_id, payment_request_id, invoice_id)
);
create index payment_request_invoices_invoice on payment_request_invoices (organization_id, invoice_id);

create table payments (
  id uuid primary key,
  organization_id uuid not null,
  customer_id uuid not null references customers (id),
  payable_type text not null check (payable_type in ('Invoice', 'PaymentRequest')),
  payable_id uuid not null,
  payment_type text not null check (payment_type in ('manual', 'provider')),
  amount_cents bigint not null check (amount_cents > 0),
  amount_currency text not null,
  -- the provider's own word
  status text not null,
  payment_status text not null check (payment_status in ('pending', 'processing', 'succeeded', 'failed')),
  reference text,
  payment_provider_id uuid references payment_providers (id),
  provider_payment_id text,
  provider_customer_id text,
  payment_method_id uuid references payment_methods (id),
  next_action jsonb not null default '{}',
  error jsonb,
  -- attempts to reach the provider about this payment
  charge_attempts integer not null default 0,
  charged_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index payments_under_way_key on payments (organization_id, payable_type, payable_id)
  where payment_type = 'provider' and payment_status in ('pending', 'processing');
create unique index payments_provider_payment_key on payments (organization_id, payment_provider_id, provider_payment_id)
  where provider_payment_id is not null;
create index payments_newest on payments (organization_id, created_at desc, id desc);
create index payments_payable on payments (organization_id, payable_id);
create index payments_stuck on payments (updated_at)
  where payment_type = 'provider' and payment_status in ('pending', 'processing');

-- What a payment settled of each invoice.
create table payment_invoices (
  organization_id uuid not null,
  payment_id uuid not null references payments (id),
  invoice_id uuid not null references invoices (id),
  amount_cents bigint not null default 0 check (amount_cents >= 0),
  primary key (organization_id, payment_id, invoice_id)
);
create index payment_invoices_invoice on payment_invoices (organization_id, invoice_id);

create table payment_receipts (
  id uuid primary key,
  organization_id uuid not null,
  payment_id uuid not null references payments (id),
  customer_id uuid not null references customers (id),
  billing_entity_id uuid not null references billing_entities (id),
  number text not null,
  created_at timestamptz not null,
  constraint payment_receipts_payment_key unique (organization_id, payment_id),
  constraint payment_receipts_number_key unique (organization_id, customer_id, number)
);
create index payment_receipts_newest on payment_receipts (organization_id, created_at desc, id desc);

-- Hosted pages: of a payable (to pay) or of a customer (to store a method).
create table payment_pages (
  id uuid primary key,
  organization_id uuid not null,
  customer_id uuid not null references customers (id),
  payment_provider_id uuid not null references payment_providers (id),
  payable_type text check (payable_type in ('Invoice', 'PaymentRequest')),
  payable_id uuid,
  token text not null,
  url text not null,
  amount_cents bigint,
  provider_page_id text,
  expires_at timestamptz not null,
  closed_at timestamptz,
  created_at timestamptz not null,
  constraint payment_pages_token_key unique (token)
);
create index payment_pages_payable on payment_pages (organization_id, payable_id) where closed_at is null;

create table inbound_events (
  id uuid primary key,
  organization_id uuid not null,
  connection_id uuid not null references payment_providers (id),
  provider_event_id text not null,
  event_type text not null,
  payload jsonb not null,
  status text not null default 'pending' check (status in ('pending', 'processing', 'succeeded', 'failed')),
  attempts integer not null default 0,
  error text,
  processing_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint inbound_events_event_key unique (connection_id, provider_event_id)
);
create index inbound_events_open on inbound_events (created_at) where status in ('pending', 'processing');

-- Mails that a sandbox would have sent.
create table sandbox_mails (
  id uuid primary key,
  organization_id uuid not null,
  recipients text[] not null,
  bcc text[] not null default '{}',
  subject text not null,
  body text not null,
  attachments jsonb not null default '[]',
  created_at timestamptz not null
);
create index sandbox_mails_newest on sandbox_mails (organization_id, created_at desc, id desc);
