-- Why: events, what could not be matched, the rollups that reads and invoices use, and corrections.
-- Locks: only new tables.

create table events (
  id uuid primary key,
  organization_id uuid not null,
  external_subscription_id text not null,
  transaction_id text not null,
  code text not null,
  timestamp timestamptz not null,
  properties jsonb not null,
  precise_total_amount_cents numeric(40, 15),
  -- first 16 bytes of SHA-256 over the canonical JSON of {code, properties, precise_total_amount_cents} as sent
  digest bytea not null,
  user_agent text,
  remote_address text,
  version integer not null default 1,
  deleted_at timestamptz,
  created_at timestamptz not null
);
comment on table events is 'Usage events as received, each transaction_id once per subscription.';
create unique index events_transaction_key on events (organization_id, transaction_id, external_subscription_id);
create index events_aggregation on events (organization_id, external_subscription_id, code, timestamp);
create index events_newest on events (organization_id, timestamp desc, transaction_id);
create index events_code on events (organization_id, code, timestamp desc, transaction_id);

create table event_versions (
  organization_id uuid not null,
  event_id uuid not null,
  version integer not null,
  code text not null,
  timestamp timestamptz not null,
  properties jsonb not null,
  precise_total_amount_cents numeric(40, 15),
  correction_id uuid,
  recorded_at timestamptz not null,
  primary key (event_id, version)
);
comment on table event_versions is 'Earlier versions of corrected events.';
create index event_versions_correction on event_versions (organization_id, correction_id);

create table event_batches (
  id uuid primary key,
  organization_ids uuid[] not null,
  event_ids uuid[] not null,
  created_at timestamptz not null,
  enqueued_at timestamptz not null
);
comment on table event_batches is
  'Stored batches whose asynchronous steps are not done yet; a sweep finds those whose job was lost.';
create index event_batches_enqueued on event_batches (enqueued_at);

create table event_checks (
  organization_id uuid primary key,
  -- end of the last full hour whose events were checked
  checked_until timestamptz not null
);
comment on table event_checks is 'The instant up to which the hourly check has looked at an organization''s events.';

create table unmatched_events (
  organization_id uuid not null,
  event_id uuid not null,
  reason text not null,
  code text not null,
  external_subscription_id text not null,
  event_timestamp timestamptz not null,
  first_seen_at timestamptz not null,
  status text not null default 'open' check (status in ('open', 'healed', 'ignored')),
  healed_at timestamptz,
  correction_id uuid,
  shares_total boolean not null default false,
  primary key (organization_id, event_id)
);
comment on table unmatched_events is
  'Events without a metric or subscription. They heal when the missing one is made.';
create index unmatched_events_reason on unmatched_events (organization_id, status, reason, code);
create index unmatched_events_open_code on unmatched_events (organization_id, code, event_id) where status = 'open';
create index unmatched_events_open_subscription
  on unmatched_events (organization_id, external_subscription_id, event_id) where status = 'open';
create index unmatched_events_newest on unmatched_events (organization_id, status, first_seen_at desc, event_id desc);

create table unmatched_totals (
  organization_id uuid not null,
  reason text not null,
  code text not null,
  count bigint not null,
  kept bigint not null default 0,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  primary key (organization_id, reason, code)
);
comment on table unmatched_totals is
  'How many events were found unmatched per reason and code; beyond a limit only these counters grow.';
create index unmatched_totals_overflown on unmatched_totals (organization_id, code) where kept < count;
create index unmatched_totals_empty on unmatched_totals (organization_id) where count <= 0;

create table usage_groups (
  organization_id uuid not null,
  shape_id uuid not null,
  group_hash bytea not null,
  -- texts of the shape's properties, absent ones left out
  properties jsonb not null,
  primary key (organization_id, shape_id, group_hash)
);
comment on table usage_groups is 'Values of the grouping properties behind each group hash of a shape.';

create table usage_buckets (
  organization_id uuid not null,
  external_subscription_id text not null,
  shape_id uuid not null,
  hour timestamptz not null,
  group_hash bytea not null,
  events_count bigint not null,
  valid_count bigint not null,
  sum numeric not null default 0,
  moment numeric not null default 0,
  amount numeric not null default 0,
  max numeric,
  last_ts timestamptz,
  last_created_at timestamptz,
  last_id uuid,
  last_value numeric,
  digest numeric not null default 0,
  max_id uuid,
  primary key (organization_id, external_subscription_id, shape_id, hour, group_hash)
) with (fillfactor = 70);
comment on table usage_buckets is
  'Usage per subscription, shape, hour and group: what reads and invoices add up instead of events.';
comment on column usage_buckets.digest is
  'sum over the events of 10^83 + the first 240 bits of a SHA-256: src/areas/catalog/usage-shapes/event-digest.ts';
comment on column usage_buckets.max_id is 'no event that was ever in here has a greater id';

create table usage_days (
  organization_id uuid not null,
  external_subscription_id text not null,
  shape_id uuid not null,
  day timestamptz not null,
  group_hash bytea not null,
  events_count bigint not null,
  valid_count bigint not null,
  sum numeric not null,
  -- sum of value × seconds since the day began, of weighted sums
  moment numeric not null,
  amount numeric not null default 0,
  digest numeric not null default 0,
  max_id uuid,
  primary key (organization_id, external_subscription_id, shape_id, day, group_hash)
) with (fillfactor = 70);
comment on table usage_days is
  'Sums of the buckets of one UTC day, of shapes that keep days; greatest and last values stay with the hours.';
comment on column usage_days.digest is 'sum of the digests of the hours of the day';
comment on column usage_days.max_id is 'greatest max_id of the hours of the day';

create table usage_uniques (
  organization_id uuid not null,
  external_subscription_id text not null,
  shape_id uuid not null,
  hour timestamptz not null,
  group_hash bytea not null,
  value_hash bytea not null,
  has_add boolean not null,
  is_member boolean not null,
  last_ts timestamptz not null,
  last_created_at timestamptz not null,
  last_id uuid not null,
  primary key (organization_id, external_subscription_id, shape_id, hour, group_hash, value_hash)
) with (fillfactor = 80);
comment on table usage_uniques is
  'Of each value and hour of a unique count: whether it was added, and what its last operation '
  'left. Can be computed again in any order and any number of times. Values are kept as hashes.';

create table usage_dirty_hours (
  organization_id uuid not null,
  shape_id uuid not null,
  external_subscription_id text not null,
  hour timestamptz not null,
  marks integer not null default 1,
  primary key (organization_id, shape_id, external_subscription_id, hour)
);
comment on table usage_dirty_hours is
  '(subscription, hour) keys touched while a shape is being built, drained '
  'before it goes live; of a live shape, hours whose repair is pending. A '
  'writer always updates the row, so that draining waits for writers under way.';

create table usage_raw_subscriptions (
  organization_id uuid not null,
  shape_id uuid not null,
  external_subscription_id text not null,
  marked_at timestamptz not null,
  primary key (organization_id, shape_id, external_subscription_id)
);
comment on table usage_raw_subscriptions is
  '(shape, subscription) pairs with too many combinations of groups: reads scan their events.';

create table lifetime_usages (
  organization_id uuid not null references organizations (id),
  external_subscription_id text not null,
  subscription_at timestamptz not null,
  historical_usage_amount_cents bigint not null check (historical_usage_amount_cents >= 0),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (organization_id, external_subscription_id, subscription_at)
);
comment on table lifetime_usages is
  'Usage imported from before a chain of subscriptions: same external id, same subscription_at.';

create table daily_usages (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  customer_id uuid not null references customers (id),
  subscription_id uuid not null references subscriptions (id),
  external_subscription_id text not null,
  usage_date date not null,
  -- [from, to) of the charges period
  from_datetime timestamptz not null,
  to_datetime timestamptz not null,
  amount_currency text not null,
  amount_cents bigint not null,
  -- [{charge_id, charge_filter_id, grouped_by, billable_metric_id, billable_metric_code, units, events_count,
  -- amount_cents}]
  usage jsonb not null,
  -- the same less the snapshot before it in the same period; entries that did not change left out
  usage_diff jsonb not null,
  created_at timestamptz not null,
  constraint daily_usages_day_key unique (organization_id, subscription_id, usage_date)
);
comment on table daily_usages is 'Usage of a period as it stood after a local day, and what that day added.';
create index daily_usages_organization on daily_usages (organization_id, usage_date);

create table daily_usage_looks (
  organization_id uuid not null,
  subscription_id uuid not null references subscriptions (id),
  looked_at timestamptz not null,
  next_day_at timestamptz not null,
  next_look_at timestamptz not null,
  primary key (organization_id, subscription_id)
);
comment on table daily_usage_looks is
  'When the daily usage of a subscription is taken next: after the next '
  'local day if an event arrived, else when its next period has begun.';

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
comment on table in_advance_records is
  'What was billed in advance in a period per charge, filter and '
  'group. One row per event and charge: no event is billed twice.';
create index in_advance_records_newest
  on in_advance_records (organization_id, external_subscription_id, charge_id, id desc);

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
comment on table event_corrections is 'Corrections of events with their reason, policy and progress.';
create index event_corrections_newest on event_corrections (organization_id, created_at desc, id desc);
create index event_corrections_subscription on event_corrections (organization_id, external_subscription_id);

create table event_correction_events (
  organization_id uuid not null,
  correction_id uuid not null references event_corrections (id),
  event_id uuid not null,
  primary key (correction_id, event_id)
);
comment on table event_correction_events is
  'Events of a range that are still to be corrected: those '
  'found when the correction was asked for, and no others.';

create table taken_late_events (
  organization_id uuid not null,
  event_id uuid not null,
  taken_at timestamptz not null,
  primary key (organization_id, event_id)
);
comment on table taken_late_events is 'Late events that a correction has already priced.';

create table wallet_marks (
  id uuid primary key,
  organization_id uuid not null,
  customer_id uuid not null references customers (id),
  -- in the organization's own time
  marked_at timestamptz not null
);
comment on table wallet_marks is
  'Customers whose usage, invoices or wallets changed. Rows '
  'are only added, so that writers never wait for the worker.';
create index wallet_marks_customer on wallet_marks (organization_id, customer_id);
create index wallet_marks_oldest on wallet_marks (marked_at);

-- Takes the shared lock of an organization's events until the transaction ends, then reads its version. One call for
-- both inside the storing statement, whose own snapshot is older than a lock that it waits for: what a function
-- queries is as new as the query. The seed is the one of src/areas/catalog/usage-shapes/shape-locks.ts.
create function hold_shapes_version(organization uuid) returns bigint language plpgsql volatile as $$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended(organization::text, 5301));
  return (select shapes_version from organizations where id = organization);
end
$$;
