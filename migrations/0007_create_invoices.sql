-- Why: invoices, their lines and fees, the stored inputs that let anybody recompute them, and the journal.
-- Locks: only new tables.
create table invoices (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  billing_entity_id uuid not null references billing_entities (id),
  customer_id uuid not null references customers (id),
  invoice_type text not null check (invoice_type in ('subscription', 'one_off', 'credit', 'advance_charges', 'progressive_billing', 'add_on')),
  status text not null check (status in ('generating', 'draft', 'open', 'pending', 'failed', 'finalized', 'closed', 'voided', 'deleted')),
  payment_status text not null default 'pending' check (payment_status in ('pending', 'succeeded', 'failed')),
  payment_overdue boolean not null default false,
  payment_dispute_lost_at timestamptz,
  ready_for_payment_processing boolean not null default true,
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
  -- the customer's figures as printed, frozen when finalized
  customer_snapshot jsonb,
  voided_invoice_id uuid references invoices (id),
  voided_at timestamptz,
  finalized_at timestamptz,
  version_number integer not null default 4,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index invoices_number_key on invoices (organization_id, billing_entity_id, number)
  where status in ('finalized', 'voided') and not self_billed;
create unique index invoices_customer_sequence_key on invoices (organization_id, customer_id, billing_entity_id, sequential_id)
  where sequential_id is not null;
create unique index invoices_entity_sequence_key on invoices (organization_id, billing_entity_id, billing_entity_sequential_id)
  where billing_entity_sequential_id is not null;
create index invoices_newest on invoices (organization_id, issuing_date desc, created_at desc, id desc);
create index invoices_customer on invoices (organization_id, customer_id, issuing_date desc);
create index invoices_drafts on invoices (expected_finalization_date) where status = 'draft';
create index invoices_due on invoices (payment_due_date)
  where status = 'finalized' and payment_status <> 'succeeded' and payment_dispute_lost_at is null and not payment_overdue;

create table customer_invoice_sequences (
  organization_id uuid not null,
  customer_id uuid not null references customers (id),
  billing_entity_id uuid not null references billing_entities (id),
  last bigint not null,
  primary key (organization_id, customer_id, billing_entity_id)
);

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

-- The line of a subscription on an invoice: its three windows, [from, to) half-open.
create table invoice_subscriptions (
  id uuid primary key,
  organization_id uuid not null,
  invoice_id uuid not null references invoices (id) on delete cascade,
  subscription_id uuid not null references subscriptions (id),
  invoicing_reason text not null check (invoicing_reason in ('subscription_starting', 'subscription_periodic', 'subscription_terminating', 'in_advance_charge', 'in_advance_charge_periodic', 'progressive_billing')),
  recurring boolean not null default false,
  -- a line copied by a regeneration leaves the uniqueness rules
  regenerated boolean not null default false,
  billed_at timestamptz not null,
  billed_on date not null,
  from_datetime timestamptz,
  to_datetime timestamptz,
  charges_from_datetime timestamptz,
  charges_to_datetime timestamptz,
  fixed_charges_from_datetime timestamptz,
  fixed_charges_to_datetime timestamptz,
  created_at timestamptz not null,
  constraint invoice_subscriptions_line_key unique (organization_id, invoice_id, subscription_id)
);
create unique index invoice_subscriptions_billing_day_key on invoice_subscriptions (organization_id, subscription_id, billed_on)
  where recurring and not regenerated;
create unique index invoice_subscriptions_charges_window_key
  on invoice_subscriptions (organization_id, subscription_id, charges_from_datetime, charges_to_datetime)
  where recurring and not regenerated and charges_from_datetime is not null;
create unique index invoice_subscriptions_fixed_charges_window_key
  on invoice_subscriptions (organization_id, subscription_id, fixed_charges_from_datetime, fixed_charges_to_datetime)
  where recurring and not regenerated and fixed_charges_from_datetime is not null;
create unique index invoice_subscriptions_starting_key on invoice_subscriptions (organization_id, subscription_id)
  where invoicing_reason = 'subscription_starting' and not regenerated;
create unique index invoice_subscriptions_terminating_key on invoice_subscriptions (organization_id, subscription_id)
  where invoicing_reason = 'subscription_terminating' and not regenerated;
create index invoice_subscriptions_subscription on invoice_subscriptions (organization_id, subscription_id, billed_at desc);

create table fees (
  id uuid primary key,
  organization_id uuid not null,
  billing_entity_id uuid not null references billing_entities (id),
  customer_id uuid not null references customers (id),
  invoice_id uuid references invoices (id) on delete cascade,
  subscription_id uuid references subscriptions (id),
  charge_id uuid references charges (id),
  charge_filter_id uuid references charge_filters (id),
  original_fee_id uuid references fees (id),
  true_up_parent_fee_id uuid references fees (id),
  fee_type text not null check (fee_type in ('charge', 'add_on', 'subscription', 'credit', 'commitment', 'fixed_charge')),
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
  payment_status text not null default 'pending' check (payment_status in ('pending', 'succeeded', 'failed', 'refunded')),
  succeeded_at timestamptz,
  failed_at timestamptz,
  refunded_at timestamptz,
  -- [from, to) half-open
  from_datetime timestamptz,
  to_datetime timestamptz,
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index fees_invoice on fees (organization_id, invoice_id);
create index fees_subscription on fees (organization_id, subscription_id, fee_type, created_at);
create index fees_oldest on fees (organization_id, created_at, id);
-- An event makes one in-advance fee per charge (subscriptions-and-invoices I.2).
create unique index fees_in_advance_key on fees (organization_id, external_subscription_id, event_transaction_id, charge_id)
  where event_transaction_id is not null and original_fee_id is null and deleted_at is null;

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

-- What each amount was computed from (beyond 6.1).
create table fee_inputs (
  fee_id uuid primary key references fees (id) on delete cascade,
  organization_id uuid not null,
  engine_version integer not null,
  inputs jsonb not null,
  digest bytea not null,
  events_watermark jsonb,
  created_at timestamptz not null
);
create table invoice_inputs (
  invoice_id uuid primary key references invoices (id) on delete cascade,
  organization_id uuid not null,
  engine_version integer not null,
  inputs jsonb not null,
  digest bytea not null,
  created_at timestamptz not null
);

-- Double-entry journal (beyond 8): written with the state change it books, never changed.
create table ledger_transactions (
  id uuid primary key,
  organization_id uuid not null,
  rule text not null,
  source_type text not null,
  source_id uuid not null,
  ordinal integer not null default 0,
  currency text not null,
  booked_at timestamptz not null,
  booked_on date not null,
  document_date date not null,
  reverses_id uuid references ledger_transactions (id),
  created_at timestamptz not null,
  constraint ledger_transactions_source_key unique (organization_id, rule, source_type, source_id, ordinal)
);
create table ledger_entries (
  id uuid primary key,
  organization_id uuid not null,
  position bigserial not null,
  transaction_id uuid not null references ledger_transactions (id),
  billing_entity_id uuid not null,
  account_code text not null,
  currency text not null,
  side text not null check (side in ('debit', 'credit')),
  amount_cents bigint not null check (amount_cents > 0),
  booked_on date not null,
  customer_id uuid, invoice_id uuid, credit_note_id uuid, wallet_id uuid, wallet_transaction_id uuid,
  payment_id uuid, fee_id uuid, tax_code text, payment_provider_id uuid
);
create index ledger_entries_position on ledger_entries (organization_id, position);
create index ledger_entries_account on ledger_entries (organization_id, account_code, booked_on);
create index ledger_entries_invoice on ledger_entries (organization_id, invoice_id) where invoice_id is not null;
create index ledger_entries_transaction on ledger_entries (transaction_id);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'rows of % are never changed or deleted', tg_table_name using errcode = 'restrict_violation';
end $$;
create trigger ledger_transactions_frozen before update or delete on ledger_transactions for each row execute function refuse_change();
create trigger ledger_entries_frozen before update or delete on ledger_entries for each row execute function refuse_change();

create function check_ledger_balance() returns trigger language plpgsql as $$
declare difference numeric;
begin
  select sum(case side when 'debit' then amount_cents else -amount_cents end) into difference
  from ledger_entries where transaction_id = new.transaction_id;
  if difference <> 0 then
    raise exception 'ledger transaction % does not balance', new.transaction_id using errcode = 'check_violation';
  end if;
  return null;
end $$;
create constraint trigger ledger_entries_balance after insert on ledger_entries
  deferrable initially deferred for each row execute function check_ledger_balance();
