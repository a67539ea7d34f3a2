-- Why: features, what plans and single subscriptions grant of them (platform J), and usage limits on them (beyond 11.1).
-- Locks: none, new tables.
create table features (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  code text not null,
  name text,
  description text,
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index features_code_key on features (organization_id, code) where deleted_at is null;
create index features_newest on features (organization_id, created_at desc, id desc) where deleted_at is null;

create table privileges (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  feature_id uuid not null references features (id),
  code text not null,
  name text,
  value_type text not null check (value_type in ('integer', 'boolean', 'string', 'select')),
  select_options text[] not null default '{}',
  created_at timestamptz not null,
  constraint privileges_code_key unique (organization_id, feature_id, code),
  constraint privileges_options check ((value_type = 'select') = (cardinality(select_options) > 0))
);

create table entitlements (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  feature_id uuid not null references features (id),
  plan_id uuid references plans (id),
  subscription_id uuid references subscriptions (id),
  created_at timestamptz not null,
  constraint entitlements_one_holder check ((plan_id is null) <> (subscription_id is null))
);
create unique index entitlements_plan_key on entitlements (organization_id, plan_id, feature_id) where plan_id is not null;
create unique index entitlements_subscription_key on entitlements (organization_id, subscription_id, feature_id)
  where subscription_id is not null;
create index entitlements_feature on entitlements (organization_id, feature_id);

create table entitlement_values (
  organization_id uuid not null,
  entitlement_id uuid not null references entitlements (id) on delete cascade,
  privilege_id uuid not null references privileges (id) on delete cascade,
  value text not null,
  primary key (organization_id, entitlement_id, privilege_id)
);
create index entitlement_values_entitlement on entitlement_values (entitlement_id);
create index entitlement_values_privilege on entitlement_values (privilege_id);

-- What a plan grants and a subscription does not have: a whole feature, or one privilege of it.
create table entitlement_removals (
  organization_id uuid not null,
  subscription_id uuid not null references subscriptions (id),
  feature_id uuid not null references features (id),
  privilege_id uuid references privileges (id) on delete cascade,
  created_at timestamptz not null
);
create unique index entitlement_removals_feature_key
  on entitlement_removals (organization_id, subscription_id, feature_id) where privilege_id is null;
create unique index entitlement_removals_privilege_key
  on entitlement_removals (organization_id, subscription_id, privilege_id) where privilege_id is not null;
create index entitlement_removals_privilege on entitlement_removals (privilege_id) where privilege_id is not null;

create table feature_usage_limits (
  organization_id uuid not null references organizations (id),
  feature_id uuid not null references features (id),
  -- in the order in which they were given
  place integer not null,
  privilege_id uuid not null references privileges (id) on delete cascade,
  billable_metric_id uuid not null references billable_metrics (id),
  period text not null check (period in ('billing_period', 'day', 'month', 'lifetime')),
  primary key (organization_id, feature_id, place)
);
create index feature_usage_limits_privilege on feature_usage_limits (privilege_id);
