-- Why: what was billed in advance in a period, per charge, filter and group, so that units given back and used again are
-- not billed twice; one row per event and charge, which is also what makes billing an event twice impossible.
-- Locks: a new table; one new index of fees, whose writers wait while it is built.
create table in_advance_records (
  -- grows in the order in which events were billed
  id uuid primary key,
  organization_id uuid not null,
  external_subscription_id text not null,
  charge_id uuid not null references charges (id),
  charge_filter_id uuid references charge_filters (id),
  grouped_by jsonb not null,
  event_id uuid not null,
  event_timestamp timestamptz not null,
  -- net units of the period, the highest they were, and what was billed weighed by days
  current numeric not null,
  max numeric not null,
  max_prorated numeric not null,
  created_at timestamptz not null,
  constraint in_advance_records_event_key unique (organization_id, event_id, charge_id)
);
create index in_advance_records_newest on in_advance_records (organization_id, external_subscription_id, charge_id, id desc);

create index fees_standalone on fees (organization_id, customer_id, succeeded_at)
  where invoice_id is null and payment_status = 'succeeded' and deleted_at is null;
