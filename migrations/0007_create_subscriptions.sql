-- Why: subscriptions, and what a single one has beside or instead of its plan.
-- Locks: only new tables.

create table subscriptions (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  customer_id uuid not null references customers (id),
  plan_id uuid not null references plans (id),
  previous_subscription_id uuid references subscriptions (id),
  -- as it was when the change of plan was made: what both plans cost today would tell another kind
  switch_kind text constraint subscriptions_switch_kind_known check (switch_kind in ('upgrade', 'downgrade')),
  billing_entity_id uuid references billing_entities (id),
  external_id text not null,
  name text,
  status text not null check (status in ('pending', 'incomplete', 'active', 'terminated', 'canceled')),
  billing_time text not null default 'calendar' check (billing_time in ('calendar', 'anniversary')),
  subscription_at timestamptz not null,
  started_at timestamptz, activated_at timestamptz, ending_at timestamptz, terminated_at timestamptz,
  canceled_at timestamptz,
  cancellation_reason text check (cancellation_reason in ('payment_failed', 'timeout')),
  trial_ended_at timestamptz,
  on_termination_credit_note text check (on_termination_credit_note in ('credit', 'refund', 'offset', 'skip')),
  on_termination_invoice text not null default 'generate' check (on_termination_invoice in ('generate', 'skip')),
  consolidate_invoice boolean not null default true,
  progressive_billing_disabled boolean not null default false,
  skip_invoice_custom_sections boolean not null default false,
  purchase_order_number text,
  payment_method_type text,
  payment_method_id uuid,
  last_received_event_on date,
  usage_may_have_changed boolean not null default false,
  -- first instant (start of the local day) from which the hourly run may bill: never later than the next billing day
  next_billing_at timestamptz,
  termination_alerted_on date,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint subscriptions_switch_has_kind check ((switch_kind is null) = (previous_subscription_id is null))
);
comment on table subscriptions is
  'A plan used by a customer. Records with the same external_id follow each other when the plan changes.';
create unique index subscriptions_active_key on subscriptions (organization_id, external_id) where status = 'active';
create unique index subscriptions_incomplete_key on subscriptions (organization_id, external_id)
  where status = 'incomplete';
create index subscriptions_external_id on subscriptions (organization_id, external_id);
create index subscriptions_customer on subscriptions (organization_id, customer_id);
create index subscriptions_previous on subscriptions (organization_id, previous_subscription_id)
  where previous_subscription_id is not null;
create index subscriptions_plan on subscriptions (organization_id, plan_id);
create index subscriptions_due on subscriptions (next_billing_at) where status = 'active';
create index subscriptions_due_of_organization on subscriptions (organization_id, next_billing_at)
  where status = 'active';
create index subscriptions_pending on subscriptions (subscription_at) where status = 'pending';
create index subscriptions_ending on subscriptions (ending_at) where status = 'active' and ending_at is not null;

create table subscription_activation_rules (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  subscription_id uuid not null references subscriptions (id),
  rule_type text not null check (rule_type in ('payment')),
  timeout_hours integer not null check (timeout_hours >= 0),
  status text not null
    check (status in ('inactive', 'pending', 'satisfied', 'declined', 'failed', 'expired', 'not_applicable')),
  -- null: never
  expires_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint subscription_activation_rules_key unique (organization_id, subscription_id, rule_type)
);
comment on table subscription_activation_rules is
  'What a subscription waits for before it becomes active, such as the payment of its first invoice.';
create index subscription_activation_rules_expiring on subscription_activation_rules (expires_at)
  where status = 'pending';

create table fixed_charge_units (
  id uuid primary key,
  organization_id uuid not null,
  subscription_id uuid not null references subscriptions (id),
  fixed_charge_id uuid not null references fixed_charges (id),
  units numeric(30, 10) not null,
  effective_at timestamptz not null,
  created_at timestamptz not null
);
comment on table fixed_charge_units is
  'Units of a fixed charge for one subscription over time: a log in the order of its ids.';
create index fixed_charge_units_subscription
  on fixed_charge_units (organization_id, subscription_id, fixed_charge_id, id);

create table fixed_charge_units_overrides (
  organization_id uuid not null,
  subscription_id uuid not null references subscriptions (id),
  fixed_charge_id uuid not null references fixed_charges (id),
  units numeric(30, 10) not null check (units >= 0),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (organization_id, subscription_id, fixed_charge_id)
);
comment on table fixed_charge_units_overrides is 'Units that one subscription has instead of its plan''s.';
create index fixed_charge_units_overrides_charge on fixed_charge_units_overrides (organization_id, fixed_charge_id);

create table entitlements (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  feature_id uuid not null references features (id),
  plan_id uuid references plans (id),
  subscription_id uuid references subscriptions (id),
  created_at timestamptz not null,
  constraint entitlements_one_holder check ((plan_id is null) <> (subscription_id is null))
);
comment on table entitlements is 'Features granted by a plan, or by a single subscription beside its plan.';
create unique index entitlements_plan_key on entitlements (organization_id, plan_id, feature_id)
  where plan_id is not null;
create unique index entitlements_subscription_key
  on entitlements (organization_id, subscription_id, feature_id) where subscription_id is not null;
create index entitlements_feature on entitlements (organization_id, feature_id);

create table entitlement_values (
  organization_id uuid not null,
  entitlement_id uuid not null references entitlements (id) on delete cascade,
  privilege_id uuid not null references privileges (id) on delete cascade,
  value text not null,
  primary key (organization_id, entitlement_id, privilege_id)
);
comment on table entitlement_values is 'Values of the privileges of an entitlement.';
create index entitlement_values_entitlement on entitlement_values (entitlement_id);
create index entitlement_values_privilege on entitlement_values (privilege_id);

create table entitlement_removals (
  organization_id uuid not null,
  subscription_id uuid not null references subscriptions (id),
  feature_id uuid not null references features (id),
  privilege_id uuid references privileges (id) on delete cascade,
  created_at timestamptz not null
);
comment on table entitlement_removals is
  'What a plan grants and a subscription does not have: a whole feature, or one privilege of it.';
create unique index entitlement_removals_feature_key
  on entitlement_removals (organization_id, subscription_id, feature_id) where privilege_id is null;
create unique index entitlement_removals_privilege_key
  on entitlement_removals (organization_id, subscription_id, privilege_id) where privilege_id is not null;
create index entitlement_removals_privilege on entitlement_removals (privilege_id) where privilege_id is not null;

create table usage_thresholds (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  plan_id uuid references plans (id),
  subscription_id uuid references subscriptions (id),
  amount_cents bigint not null check (amount_cents > 0),
  threshold_display_name text,
  recurring boolean not null,
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint usage_thresholds_one_owner check ((plan_id is null) <> (subscription_id is null))
);
comment on table usage_thresholds is
  'Amounts of usage, on a plan or a subscription, at which a progressive invoice is made.';
create unique index usage_thresholds_plan_key
  on usage_thresholds (organization_id, plan_id, amount_cents, recurring)
  where deleted_at is null and plan_id is not null;
create unique index usage_thresholds_subscription_key
  on usage_thresholds (organization_id, subscription_id, amount_cents, recurring)
  where deleted_at is null and subscription_id is not null;
create unique index usage_thresholds_plan_recurring_key on usage_thresholds (organization_id, plan_id)
  where deleted_at is null and plan_id is not null and recurring;
create unique index usage_thresholds_subscription_recurring_key
  on usage_thresholds (organization_id, subscription_id)
  where deleted_at is null and subscription_id is not null and recurring;

create table usage_marks (
  id uuid primary key,
  organization_id uuid not null,
  subscription_id uuid not null references subscriptions (id),
  -- in the organization's own time
  marked_at timestamptz not null
);
comment on table usage_marks is
  'Subscriptions whose usage, alerts or thresholds changed. Rows '
  'are only added, so that writers never wait for the worker.';
create index usage_marks_subscription on usage_marks (organization_id, subscription_id);
create index usage_marks_oldest on usage_marks (marked_at);
