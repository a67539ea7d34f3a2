-- Why: events are corrected once, with a trail: who changed what, when, and which invoices it concerns (beyond 4).
-- Locks: only new tables.
create table event_corrections (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  kind text not null check (kind in ('amend', 'retract', 'retract_range', 'late_events')),
  status text not null check (status in ('pending', 'applied', 'settled', 'failed', 'previewed')),
  policy text not null check (policy in ('next_invoice', 'debit_invoice', 'credit_note', 'ignore')),
  credit_note_part text not null check (credit_note_part in ('credit', 'refund', 'offset')),
  reason text not null,
  dry_run boolean not null,
  external_subscription_id text not null,
  -- null: several events
  transaction_id text,
  -- what was asked for, beside the columns
  input jsonb not null,
  api_key_id uuid,
  -- events found, and how many of them are corrected
  total bigint not null,
  done bigint not null default 0,
  draft_invoices_count integer not null default 0,
  invoices_count integer not null default 0,
  error jsonb,
  created_at timestamptz not null,
  started_at timestamptz,
  finished_at timestamptz
);
create index event_corrections_newest on event_corrections (organization_id, created_at desc, id desc);
create index event_corrections_subscription on event_corrections (organization_id, external_subscription_id);

-- Events of a range that are still to be corrected: those that were found when it was asked for, and no others.
create table event_correction_events (
  organization_id uuid not null,
  correction_id uuid not null references event_corrections (id),
  event_id uuid not null,
  primary key (correction_id, event_id)
);

-- What a correction means for issued invoices. Amounts are null where nothing was computed: warnings, and invoices that
-- the policy leaves alone.
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
  new_fee_id uuid references fees (id),
  credit_note_id uuid,
  uncreditable_amount_cents bigint not null default 0,
  warning text,
  created_at timestamptz not null,
  constraint correction_adjustments_fee_key unique (correction_id, fee_id)
);
create index correction_adjustments_newest on correction_adjustments (organization_id, correction_id, created_at desc, id desc);
