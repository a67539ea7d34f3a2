-- Why: usage imported from before a subscription chain, the daily snapshots of usage, and what rollups keep of unique counts.
-- Locks: only new tables; usage_buckets and usage_shapes are not touched.

-- One row per chain of subscriptions: same external id, same subscription_at.
create table lifetime_usages (
  organization_id uuid not null references organizations (id),
  external_subscription_id text not null,
  subscription_at timestamptz not null,
  historical_usage_amount_cents bigint not null check (historical_usage_amount_cents >= 0),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (organization_id, external_subscription_id, subscription_at)
);

-- Usage of a period so far as it stood after a local day, and what that day added.
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
  -- [{charge_id, charge_filter_id, grouped_by, billable_metric_id, billable_metric_code, units, events_count, amount_cents}]
  usage jsonb not null,
  -- the same less the snapshot before it in the same period; entries that did not change left out
  usage_diff jsonb not null,
  created_at timestamptz not null,
  constraint daily_usages_day_key unique (organization_id, subscription_id, usage_date)
);
create index daily_usages_organization on daily_usages (organization_id, usage_date);

-- When a subscription's usage of the day before is to be looked at: from the next local day on when an event arrived since
-- it was looked at, else when its next charges period has begun.
create table daily_usage_looks (
  organization_id uuid not null,
  subscription_id uuid not null references subscriptions (id),
  looked_at timestamptz not null,
  next_day_at timestamptz not null,
  next_look_at timestamptz not null,
  primary key (organization_id, subscription_id)
);

-- Of each value and hour of a unique count: whether it was added, and what its last operation left. Both can be found
-- again in any order and any number of times (performance-design 5.2). The value is there as its hash only.
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
