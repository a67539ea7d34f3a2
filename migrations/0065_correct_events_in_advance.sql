-- Why: the fee of an event that was billed in advance depends on the events billed before it: a correction recomputes the
-- chain of their running records from the event on (beyond 4.3).
-- Locks: a new table.
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
  constraint correction_chains_key
    unique nulls not distinct (correction_id, subscription_id, charge_id, charge_filter_id, grouped_by, from_datetime)
);

-- Copies of the fees of a voided invoice are looked up by their original. Locks: writers of fees while it is built.
create index fees_original on fees (organization_id, original_fee_id) where original_fee_id is not null;

-- What was settled about fees that stand alone. Locks: writers of the table while it is built.
create index correction_adjustments_standalone on correction_adjustments (organization_id, fee_id)
  where invoice_id is null and fee_id is not null;
