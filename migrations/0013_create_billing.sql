-- Why: what the runs that build and settle invoices remember.
-- Locks: only new tables.

create table progressive_runs (
  invoice_id uuid primary key references invoices (id) on delete cascade,
  organization_id uuid not null,
  external_subscription_id text not null,
  -- historical and invoiced usage before it
  invoiced_amount_cents bigint not null,
  highest_threshold_id uuid not null references usage_thresholds (id),
  -- the progressive invoice of the same window before it
  previous_invoice_id uuid references invoices (id),
  created_at timestamptz not null,
  constraint progressive_runs_crossing_key unique nulls not distinct (organization_id, external_subscription_id,
    invoiced_amount_cents, highest_threshold_id, previous_invoice_id)
);
comment on table progressive_runs is
  'The crossing that a progressive invoice answers: the same crossing makes one invoice.';

create table applied_usage_thresholds (
  id uuid primary key,
  organization_id uuid not null,
  invoice_id uuid not null references invoices (id) on delete cascade,
  usage_threshold_id uuid not null references usage_thresholds (id),
  lifetime_usage_amount_cents bigint not null,
  created_at timestamptz not null,
  constraint applied_usage_thresholds_key unique (organization_id, invoice_id, usage_threshold_id)
);
comment on table applied_usage_thresholds is 'Thresholds that a progressive invoice shows.';
create index applied_usage_thresholds_threshold on applied_usage_thresholds (organization_id, usage_threshold_id);

create table correction_adjustments (
  id uuid primary key,
  organization_id uuid not null,
  correction_id uuid not null references event_corrections (id),
  invoice_id uuid references invoices (id),
  fee_id uuid references fees (id),
  charge_id uuid references charges (id),
  charge_filter_id uuid references charge_filters (id),
  grouped_by jsonb not null default '{}',
  -- [from, to) half-open
  from_datetime timestamptz,
  to_datetime timestamptz,
  old_amount_cents bigint,
  new_amount_cents bigint,
  delta_amount_cents bigint,
  booked_as text check (booked_as in ('fee', 'invoice', 'credit_note', 'recorded')),
  new_fee_id uuid,
  credit_note_id uuid,
  uncreditable_amount_cents bigint not null default 0,
  warning text,
  subscription_id uuid references subscriptions (id),
  kind text not null default 'usage' check (kind in ('usage', 'true_up', 'commitment')),
  invoice_display_name text,
  -- new units less old ones
  units numeric not null default 0,
  -- what of the difference counts as billed from now on: booked, or netted with another one of the same invoice
  settled_amount_cents bigint not null default 0,
  -- what of it a fee bills; below 0: takes that much off fees that are still waiting
  billed_amount_cents bigint not null default 0,
  total_units numeric,
  late_events_left_out bigint not null default 0,
  created_at timestamptz not null,
  constraint correction_adjustments_fee_key unique (correction_id, fee_id),
  constraint correction_adjustments_new_fee_id_fkey foreign key (new_fee_id) references fees (id) on delete set null
);
comment on table correction_adjustments is
  'What a correction means for issued invoices. Amounts are null where nothing was computed.';
create index correction_adjustments_newest
  on correction_adjustments (organization_id, correction_id, created_at desc, id desc);
create index correction_adjustments_waiting on correction_adjustments (organization_id, subscription_id)
  where billed_amount_cents <> 0 and new_fee_id is null;
create index correction_adjustments_invoice on correction_adjustments (organization_id, invoice_id);
create index correction_adjustments_new_fee on correction_adjustments (organization_id, new_fee_id)
  where new_fee_id is not null;
-- What was settled about fees that stand alone. Locks: writers of the table while it is built.
create index correction_adjustments_standalone on correction_adjustments (organization_id, fee_id)
  where invoice_id is null and fee_id is not null;
create index correction_adjustments_totals
  on correction_adjustments (organization_id, subscription_id, charge_id) where total_units is not null;

create table correction_periods (
  organization_id uuid not null,
  correction_id uuid not null references event_corrections (id),
  invoice_id uuid not null references invoices (id),
  subscription_id uuid not null references subscriptions (id),
  charge_id uuid not null references charges (id),
  charges_from_datetime timestamptz not null,
  charges_to_datetime timestamptz not null,
  settled_at timestamptz,
  primary key (correction_id, invoice_id, subscription_id, charge_id)
);
comment on table correction_periods is
  'Charges on issued invoices that a correction concerns; they are settled invoice by invoice.';

create table correction_chains (
  organization_id uuid not null,
  correction_id uuid not null references event_corrections (id),
  subscription_id uuid not null references subscriptions (id),
  charge_id uuid not null references charges (id),
  charge_filter_id uuid references charge_filters (id),
  grouped_by jsonb not null,
  -- the charges period, [from, to) half-open
  from_datetime timestamptz not null,
  to_datetime timestamptz not null,
  -- running record from which on the chain is recomputed
  since_record_id uuid not null,
  settled_at timestamptz,
  constraint correction_chains_key unique nulls not distinct (correction_id, subscription_id, charge_id,
    charge_filter_id, grouped_by, from_datetime)
);
comment on table correction_chains is
  'In-advance records that a correction computes again. The fee of an event depends on '
  'the events billed before it, so the chain is computed from the corrected event on.';

create table correction_renewals (
  organization_id uuid not null,
  correction_id uuid not null references event_corrections (id),
  subscription_id uuid not null references subscriptions (id),
  charge_id uuid not null references charges (id),
  -- of the line that opened the period
  billed_at timestamptz not null,
  -- the invoice of that line
  invoice_id uuid not null references invoices (id),
  settled_at timestamptz,
  primary key (correction_id, subscription_id, charge_id, billed_at)
);
comment on table correction_renewals is
  'Recurring in-advance fees that a correction prices again: '
  'units carried into a period from an event before it.';

create table late_event_cursors (
  organization_id uuid primary key references organizations (id),
  -- ids of events grow with time
  seen_id uuid not null
);
comment on table late_event_cursors is
  'The newest event that the job for late events has looked at, per organization.';
