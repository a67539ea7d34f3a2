-- Why: payments, the requests and pages that lead to them, receipts, dunning, events of providers.
-- Locks: only new tables.

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
comment on table dunning_campaigns is 'When and how often overdue invoices are collected again.';
create unique index dunning_campaigns_code_key on dunning_campaigns (organization_id, code) where deleted_at is null;
alter table billing_entities add foreign key (dunning_campaign_id) references dunning_campaigns (id);
alter table customers add foreign key (dunning_campaign_id) references dunning_campaigns (id);

create table dunning_campaign_thresholds (
  id uuid primary key,
  organization_id uuid not null,
  dunning_campaign_id uuid not null references dunning_campaigns (id),
  amount_cents bigint not null check (amount_cents >= 0),
  currency text not null,
  constraint dunning_campaign_thresholds_currency_key unique (organization_id, dunning_campaign_id, currency)
);
comment on table dunning_campaign_thresholds is 'Overdue amounts per currency from which a campaign acts.';

create table customer_dunning_counters (
  organization_id uuid not null,
  customer_id uuid not null references customers (id),
  currency text not null,
  attempts integer not null check (attempts > 0),
  primary key (organization_id, customer_id, currency)
);
comment on table customer_dunning_counters is 'Attempts of a campaign at a customer, per currency.';

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
comment on table payment_requests is 'Requests to pay several overdue invoices at once.';
create index payment_requests_newest on payment_requests (organization_id, created_at desc, id desc);

create table payment_request_invoices (
  organization_id uuid not null,
  payment_request_id uuid not null references payment_requests (id),
  invoice_id uuid not null references invoices (id),
  primary key (organization_id, payment_request_id, invoice_id)
);
comment on table payment_request_invoices is 'Invoices of a payment request.';
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
  wire_amount bigint,
  wire_currency text,
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
  cancel_owed_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table payments is 'Payments by hand and at providers; at most one per payable is under way.';
create unique index payments_under_way_key on payments (organization_id, payable_type, payable_id)
  where payment_type = 'provider' and payment_status in ('pending', 'processing');
create unique index payments_provider_payment_key
  on payments (organization_id, payment_provider_id, provider_payment_id) where provider_payment_id is not null;
create index payments_newest on payments (organization_id, created_at desc, id desc);
create index payments_payable on payments (organization_id, payable_id);
create index payments_stuck on payments (updated_at)
  where payment_type = 'provider' and payment_status in ('pending', 'processing');
create index payments_cancel_owed on payments (cancel_owed_at) where cancel_owed_at is not null;

create table payment_invoices (
  organization_id uuid not null,
  payment_id uuid not null references payments (id),
  invoice_id uuid not null references invoices (id),
  amount_cents bigint not null default 0 check (amount_cents >= 0),
  primary key (organization_id, payment_id, invoice_id)
);
comment on table payment_invoices is 'What a payment settled of each invoice.';
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
comment on table payment_receipts is 'Receipts of payments.';
create index payment_receipts_newest on payment_receipts (organization_id, created_at desc, id desc);
create index payment_receipts_customer on payment_receipts (organization_id, customer_id, created_at desc, id desc);

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
  error jsonb,
  created_at timestamptz not null,
  constraint payment_pages_token_key unique (token)
);
comment on table payment_pages is 'Hosted pages on which a customer pays, or stores a payment method.';
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
comment on table inbound_events is 'Events received from payment providers, each once per connection.';
create index inbound_events_open on inbound_events (created_at) where status in ('pending', 'processing');

create table credit_note_refunds (
  organization_id uuid not null,
  credit_note_id uuid not null references credit_notes (id),
  payment_id uuid not null references payments (id),
  payment_provider_id uuid not null references payment_providers (id),
  provider_refund_id text,
  -- the provider's own word
  status text,
  error jsonb,
  -- when it was sent for the first time
  sent_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (organization_id, credit_note_id)
);
comment on table credit_note_refunds is
  'Refunds of credit notes at payment providers, one per note: what is owed, sent and answered.';
create unique index credit_note_refunds_provider_key
  on credit_note_refunds (organization_id, payment_provider_id, provider_refund_id)
  where provider_refund_id is not null;
create index credit_note_refunds_open on credit_note_refunds (updated_at)
  where provider_refund_id is null and error is null;
-- Why: refunds whose event may be lost are asked about.
-- Locks: credit_note_refunds, whose writers wait while the index is built.
create index credit_note_refunds_begun on credit_note_refunds (updated_at)
  where provider_refund_id is not null and status in ('pending', 'requires_action');

create table invoice_settlements (
  id uuid primary key,
  organization_id uuid not null,
  invoice_id uuid not null references invoices (id),
  settlement_type text not null,
  credit_note_id uuid references credit_notes (id),
  payment_id uuid references payments (id),
  amount_cents bigint not null check (amount_cents > 0),
  amount_currency text not null,
  reason text,
  reversed_at timestamptz,
  created_at timestamptz not null,
  constraint invoice_settlements_note_key unique (organization_id, credit_note_id),
  constraint invoice_settlements_settlement_type_check check (settlement_type in ('credit_note', 'write_off')),
  constraint invoice_settlements_note_check check ((settlement_type = 'credit_note') = (credit_note_id is not null))
);
comment on table invoice_settlements is
  'What settled an invoice without money: offsets of credit notes and write-offs.';
create index invoice_settlements_invoice on invoice_settlements (organization_id, invoice_id);
create index invoice_settlements_payment on invoice_settlements (organization_id, payment_id)
  where payment_id is not null;
