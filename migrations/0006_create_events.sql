-- Why: usage events, stored once each, and the rollups that make reading them cheap (performance-design 4 and 5).
-- Locks: only new tables. Events have no foreign keys: a key check per row would lock the organization's row.
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
create unique index events_transaction_key on events (organization_id, transaction_id, external_subscription_id);
create index events_aggregation on events (organization_id, external_subscription_id, code, timestamp);
create index events_newest on events (organization_id, timestamp desc, transaction_id);

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

-- One row per stored batch until its asynchronous steps are done; the sweeper finds those whose job was lost.
create table event_batches (
  id uuid primary key,
  organization_ids uuid[] not null,
  event_ids uuid[] not null,
  created_at timestamptz not null,
  enqueued_at timestamptz not null
);
create index event_batches_enqueued on event_batches (enqueued_at);

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
  primary key (organization_id, event_id)
);
create index unmatched_events_reason on unmatched_events (organization_id, status, reason, code);

-- How many events were ever found unmatched; beyond a limit only these counters grow (beyond 3.2).
create table unmatched_totals (
  organization_id uuid not null,
  reason text not null,
  code text not null,
  count bigint not null,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  primary key (organization_id, reason, code)
);

create table usage_shapes (
  id uuid primary key,
  organization_id uuid not null,
  billable_metric_id uuid not null references billable_metrics (id),
  code text not null,
  aggregation_type text not null,
  field_name text,
  property_names text[] not null,
  state text not null check (state in ('building', 'live', 'retired')),
  -- external subscription id up to which the build has come
  built_through text,
  created_at timestamptz not null
);
create unique index usage_shapes_live_key on usage_shapes (organization_id, billable_metric_id) where state = 'live';
create unique index usage_shapes_building_key on usage_shapes (organization_id, billable_metric_id) where state = 'building';

create table usage_groups (
  organization_id uuid not null,
  shape_id uuid not null,
  group_hash bytea not null,
  -- texts of the shape's properties, absent ones left out
  properties jsonb not null,
  primary key (organization_id, shape_id, group_hash)
);

-- The code is the shape's; a narrow key, since every stored event looks one up.
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
  max numeric,
  last_ts timestamptz,
  last_created_at timestamptz,
  last_id uuid,
  last_value numeric,
  primary key (organization_id, external_subscription_id, shape_id, hour, group_hash)
) with (fillfactor = 70);

-- (subscription, hour) keys touched while a shape is being built, drained before it goes live; of a live shape those
-- whose repair is pending. A writer always updates the row, so that draining waits for writers under way.
create table usage_dirty_hours (
  organization_id uuid not null,
  shape_id uuid not null,
  external_subscription_id text not null,
  hour timestamptz not null,
  marks integer not null default 1,
  primary key (organization_id, shape_id, external_subscription_id, hour)
);

-- (shape, subscription) pairs of too many combinations, answered by scan (performance-design 5.1).
create table usage_raw_subscriptions (
  organization_id uuid not null,
  shape_id uuid not null,
  external_subscription_id text not null,
  marked_at timestamptz not null,
  primary key (organization_id, shape_id, external_subscription_id)
);

-- Takes the shared lock of an organization's events until the transaction ends, then reads its version. One call for
-- both inside the storing statement, whose own snapshot is older than a lock that it waits for: what a function queries is
-- as new as the query. The seed is the one of src/resources/usage-shapes/lock.ts.
create function hold_shapes_version(organization uuid) returns bigint language plpgsql volatile as $$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended(organization::text, 5301));
  return (select shapes_version from organizations where id = organization);
end
$$;
