-- Why: invoices with their lines, fees and taxes, and the stored inputs from which they can be verified.
-- Locks: only new tables.

create table invoices (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  billing_entity_id uuid not null references billing_entities (id),
  customer_id uuid not null references customers (id),
  invoice_type text not null
    check (invoice_type in ('subscription', 'one_off', 'credit', 'advance_charges', 'progressive_billing', 'add_on')),
  status text not null
    check (status in ('generating', 'draft', 'open', 'pending', 'failed', 'finalized', 'closed', 'voided', 'deleted')),
  payment_status text not null default 'pending' check (payment_status in ('pending', 'succeeded', 'failed')),
  payment_attempts integer not null default 0,
  payment_overdue boolean not null default false,
  payment_dispute_lost_at timestamptz,
  ready_for_payment_processing boolean not null default true,
  skip_psp boolean not null default false,
  ready_to_be_refreshed boolean not null default false,
  tax_status text check (tax_status in ('pending', 'succeeded', 'failed')),
  self_billed boolean not null default false,
  skip_usage boolean not null default false,
  number text,
  sequential_id bigint,
  billing_entity_sequential_id bigint,
  currency text not null,
  timezone text not null,
  issuing_date date not null,
  expected_finalization_date date not null,
  payment_due_date date not null,
  net_payment_term integer not null,
  purchase_order_number text,
  payment_method_type text,
  payment_method_id uuid,
  fees_amount_cents bigint not null default 0,
  progressive_billing_credit_amount_cents bigint not null default 0,
  coupons_amount_cents bigint not null default 0,
  sub_total_excluding_taxes_amount_cents bigint not null default 0,
  taxes_amount_cents bigint not null default 0,
  taxes_rate numeric(30, 5) not null default 0,
  sub_total_including_taxes_amount_cents bigint not null default 0,
  credit_notes_amount_cents bigint not null default 0,
  prepaid_credit_amount_cents bigint not null default 0,
  prepaid_granted_credit_amount_cents bigint,
  prepaid_purchased_credit_amount_cents bigint,
  total_amount_cents bigint not null default 0 check (total_amount_cents >= 0),
  total_paid_amount_cents bigint not null default 0,
  total_offsetted_credit_note_amount_cents bigint not null default 0,
  total_written_off_amount_cents bigint not null default 0,
  -- the customer's figures as printed, frozen when finalized
  customer_snapshot jsonb,
  issuer_snapshot jsonb,
  voided_invoice_id uuid references invoices (id),
  voided_at timestamptz,
  finalized_at timestamptz,
  version_number integer not null default 4,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table invoices is 'Invoices of all types, from draft to voided.';
create unique index invoices_number_key on invoices (organization_id, billing_entity_id, number)
  where status in ('finalized', 'voided') and not self_billed;
create unique index invoices_customer_sequence_key
  on invoices (organization_id, customer_id, billing_entity_id, sequential_id) where sequential_id is not null;
create unique index invoices_entity_sequence_key
  on invoices (organization_id, billing_entity_id, billing_entity_sequential_id)
  where billing_entity_sequential_id is not null;
create index invoices_newest on invoices (organization_id, issuing_date desc, created_at desc, id desc);
create index invoices_customer on invoices (organization_id, customer_id, issuing_date desc);
create index invoices_drafts on invoices (expected_finalization_date) where status = 'draft';
create index invoices_due on invoices (payment_due_date)
  where status = 'finalized' and payment_status <> 'succeeded' and payment_dispute_lost_at is null
  and not payment_overdue;
create index invoices_progressive on invoices (organization_id, customer_id)
  where invoice_type = 'progressive_billing';
-- A voided invoice is made anew once at a time: what was made in its place has to be voided first.
create unique index invoices_regenerated_key on invoices (organization_id, voided_invoice_id)
  where voided_invoice_id is not null and status not in ('voided', 'closed', 'deleted');
-- What the refresh of drafts selects.
create index invoices_flagged on invoices (organization_id, id) where status = 'draft' and ready_to_be_refreshed;
create index invoices_awaiting_taxes on invoices (organization_id, customer_id)
  where status = 'pending' and tax_status = 'pending';
create index invoices_failed on invoices (organization_id, id) where status = 'failed';
create index invoices_overdue on invoices (organization_id, payment_due_date) where payment_overdue;
create index invoices_generating on invoices (created_at) where status = 'generating';

create table customer_invoice_sequences (
  organization_id uuid not null,
  customer_id uuid not null references customers (id),
  billing_entity_id uuid not null references billing_entities (id),
  last bigint not null,
  primary key (organization_id, customer_id, billing_entity_id)
);
comment on table customer_invoice_sequences is 'Last invoice number given to a customer by a billing entity.';

create table invoice_metadata (
  id uuid primary key,
  organization_id uuid not null,
  invoice_id uuid not null references invoices (id) on delete cascade,
  key text not null,
  value text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint invoice_metadata_key_key unique (organization_id, invoice_id, key)
);
comment on table invoice_metadata is 'Free key-value pairs of an invoice.';

create table invoice_subscriptions (
  id uuid primary key,
  organization_id uuid not null,
  invoice_id uuid not null references invoices (id) on delete cascade,
  subscription_id uuid not null references subscriptions (id),
  invoicing_reason text not null
    check (invoicing_reason in ('subscription_starting', 'subscription_periodic', 'subscription_terminating',
    'in_advance_charge', 'in_advance_charge_periodic', 'progressive_billing')),
  recurring boolean not null default false,
  ends_trial boolean not null default false
    constraint invoice_subscriptions_trial_end_starts
    check (not ends_trial or invoicing_reason = 'subscription_starting'),
  -- a line copied by a regeneration leaves the uniqueness rules
  regenerated boolean not null default false,
  billed_at timestamptz not null,
  billed_on date not null,
  from_datetime timestamptz, to_datetime timestamptz, charges_from_datetime timestamptz,
  charges_to_datetime timestamptz, fixed_charges_from_datetime timestamptz,
  fixed_charges_to_datetime timestamptz,
  created_at timestamptz not null,
  constraint invoice_subscriptions_line_key unique (organization_id, invoice_id, subscription_id)
);
comment on table invoice_subscriptions is
  'The line of a subscription on an invoice: its three windows, [from, to) half-open.';
create unique index invoice_subscriptions_billing_day_key
  on invoice_subscriptions (organization_id, subscription_id, billed_on) where recurring and not regenerated;
create unique index invoice_subscriptions_charges_window_key
  on invoice_subscriptions (organization_id, subscription_id, charges_from_datetime, charges_to_datetime)
  where recurring and not regenerated and charges_from_datetime is not null;
create unique index invoice_subscriptions_fixed_charges_window_key
  on invoice_subscriptions (organization_id, subscription_id, fixed_charges_from_datetime,
  fixed_charges_to_datetime) where recurring and not regenerated and fixed_charges_from_datetime is not null;
create unique index invoice_subscriptions_terminating_key
  on invoice_subscriptions (organization_id, subscription_id)
  where invoicing_reason = 'subscription_terminating' and not regenerated;
create index invoice_subscriptions_subscription
  on invoice_subscriptions (organization_id, subscription_id, billed_at desc);
create unique index invoice_subscriptions_starting_key
  on invoice_subscriptions (organization_id, subscription_id, ends_trial)
  where invoicing_reason = 'subscription_starting' and not regenerated;

create table fees (
  id uuid primary key,
  organization_id uuid not null,
  billing_entity_id uuid not null references billing_entities (id),
  customer_id uuid not null references customers (id),
  invoice_id uuid references invoices (id) on delete cascade,
  subscription_id uuid references subscriptions (id),
  charge_id uuid references charges (id),
  charge_filter_id uuid references charge_filters (id),
  fixed_charge_id uuid references fixed_charges (id),
  original_fee_id uuid references fees (id),
  true_up_parent_fee_id uuid references fees (id),
  correction_id uuid references event_corrections (id),
  fee_type text not null
    check (fee_type in ('charge', 'add_on', 'subscription', 'credit', 'commitment', 'fixed_charge')),
  item_id uuid not null,
  item_code text not null,
  item_name text not null,
  item_description text,
  invoice_display_name text,
  amount_cents bigint not null,
  amount_currency text not null,
  precise_amount_cents numeric(40, 15) not null,
  unit_amount_cents bigint not null,
  precise_unit_amount numeric(30, 15) not null,
  precise_coupons_amount_cents numeric(30, 5) not null default 0,
  precise_credit_notes_amount_cents numeric(30, 5) not null default 0,
  taxes_amount_cents bigint not null default 0,
  taxes_precise_amount_cents numeric(40, 15) not null default 0,
  taxes_rate numeric(30, 5) not null default 0,
  units numeric not null,
  total_aggregated_units numeric not null,
  events_count bigint,
  grouped_by jsonb not null default '{}',
  amount_details jsonb not null default '{}',
  pricing_unit_details jsonb,
  presentation_breakdowns jsonb not null default '[]',
  pay_in_advance boolean not null default false,
  invoiceable boolean not null default true,
  event_id uuid,
  event_transaction_id text,
  external_subscription_id text,
  payment_status text not null default 'pending'
    check (payment_status in ('pending', 'succeeded', 'failed', 'refunded')),
  succeeded_at timestamptz, failed_at timestamptz, refunded_at timestamptz,
  -- [from, to) half-open
  from_datetime timestamptz,
  to_datetime timestamptz,
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table fees is 'What is charged: one item with its units, amount and taxes, on an invoice or on its own.';
create index fees_invoice on fees (organization_id, invoice_id);
create index fees_subscription on fees (organization_id, subscription_id, fee_type, created_at);
create index fees_oldest on fees (organization_id, created_at, id);
-- An event makes one in-advance fee per charge (invoices.md#guarantees-of-the-storage).
create unique index fees_in_advance_key
  on fees (organization_id, external_subscription_id, event_transaction_id, charge_id)
  where event_transaction_id is not null and original_fee_id is null and deleted_at is null;
create index fees_standalone on fees (organization_id, customer_id, succeeded_at)
  where invoice_id is null and payment_status = 'succeeded' and deleted_at is null;
create index fees_fixed_charge on fees (organization_id, subscription_id, fixed_charge_id)
  where fixed_charge_id is not null;
-- Copies of the fees of a voided invoice are looked up by their original. Locks: writers of fees while it is built.
create index fees_original on fees (organization_id, original_fee_id) where original_fee_id is not null;

create table fee_applied_taxes (
  id uuid primary key,
  organization_id uuid not null,
  fee_id uuid not null references fees (id) on delete cascade,
  tax_id uuid references taxes (id),
  tax_code text not null,
  tax_name text not null,
  tax_rate numeric(30, 10) not null,
  tax_description text,
  amount_cents bigint not null,
  amount_currency text not null,
  precise_amount_cents numeric(40, 15) not null,
  created_at timestamptz not null,
  constraint fee_applied_taxes_key unique (organization_id, fee_id, tax_code)
);
comment on table fee_applied_taxes is 'Taxes of a fee with their rate at that time.';

create table invoice_applied_taxes (
  id uuid primary key,
  organization_id uuid not null,
  invoice_id uuid not null references invoices (id) on delete cascade,
  tax_id uuid references taxes (id),
  tax_code text not null,
  tax_name text not null,
  tax_rate numeric(30, 10) not null,
  tax_description text,
  amount_cents bigint not null,
  amount_currency text not null,
  fees_amount_cents bigint not null,
  created_at timestamptz not null,
  constraint invoice_applied_taxes_key unique (organization_id, invoice_id, tax_code)
);
comment on table invoice_applied_taxes is 'Taxes of an invoice, summed over its fees.';

create table fee_inputs (
  fee_id uuid primary key references fees (id) on delete cascade,
  organization_id uuid not null,
  engine_version integer not null,
  inputs jsonb not null,
  digest bytea not null,
  events_watermark jsonb,
  created_at timestamptz not null
);
comment on table fee_inputs is 'What a fee was computed from, so that it can be verified.';

create table invoice_inputs (
  invoice_id uuid primary key references invoices (id) on delete cascade,
  organization_id uuid not null,
  engine_version integer not null,
  inputs jsonb not null,
  digest bytea not null,
  created_at timestamptz not null
);
comment on table invoice_inputs is 'What an invoice was computed from, so that it can be verified.';

create table adjusted_fees (
  id uuid primary key,
  organization_id uuid not null,
  invoice_id uuid not null references invoices (id) on delete cascade,
  fee_id uuid not null,
  subscription_id uuid not null references subscriptions (id),
  fee_type text not null,
  charge_id uuid references charges (id),
  charge_filter_id uuid references charge_filters (id),
  fixed_charge_id uuid references fixed_charges (id),
  grouped_by jsonb not null default '{}',
  from_datetime timestamptz not null,
  to_datetime timestamptz not null,
  units numeric,
  unit_precise_amount numeric,
  invoice_display_name text,
  created_at timestamptz not null,
  constraint adjusted_fees_fee_key unique (organization_id, invoice_id, fee_id)
);
comment on table adjusted_fees is 'Units or amounts of a draft''s fees set by hand; they survive a refresh.';

create table invoice_error_details (
  id uuid primary key,
  organization_id uuid not null,
  invoice_id uuid not null references invoices (id) on delete cascade,
  error_code text not null
    check (error_code in ('not_provided', 'tax_error', 'tax_voiding_error', 'invoice_generation_error')),
  reason text constraint invoice_error_details_reason_known
    check (reason in ('api_limit', 'number_not_assigned', 'amount_out_of_range')),
  details jsonb not null default '{}',
  created_at timestamptz not null
);
comment on table invoice_error_details is 'Why an invoice failed.';
comment on column invoice_error_details.reason is
  'What decides whether the invoice is tried again by itself; null: a person has to look.';
create index invoice_error_details_invoice on invoice_error_details (organization_id, invoice_id);

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
comment on table applied_invoice_custom_sections is
  'Sections as an invoice prints them: later changes do not reach it.';

create table verifications (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  invoice_id uuid not null references invoices (id),
  level text not null check (level in ('inputs', 'events')),
  status text not null check (status in ('equal', 'different', 'not_verifiable')),
  result jsonb not null,
  created_at timestamptz not null
);
comment on table verifications is 'Results of invoice verifications.';
create index verifications_invoice on verifications (organization_id, invoice_id, created_at desc, id desc);
