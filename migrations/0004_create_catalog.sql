-- Why: billable metrics, plans and their charges: what is counted and what it costs.
-- Locks: only new tables.
create table billable_metrics (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  code text not null,
  name text not null,
  description text,
  aggregation_type text not null check (aggregation_type in ('count_agg', 'sum_agg', 'max_agg', 'unique_count_agg', 'latest_agg', 'weighted_sum_agg', 'custom_agg')),
  recurring boolean not null default false,
  field_name text,
  weighted_interval text check (weighted_interval in ('seconds')),
  rounding_function text check (rounding_function in ('round', 'ceil', 'floor')),
  rounding_precision integer,
  expression text,
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index billable_metrics_code_key on billable_metrics (organization_id, code) where deleted_at is null;

create table billable_metric_filters (
  id uuid primary key,
  organization_id uuid not null,
  billable_metric_id uuid not null references billable_metrics (id),
  key text not null,
  "values" text[] not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint billable_metric_filters_key_key unique (organization_id, billable_metric_id, key)
);

create table plans (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  parent_id uuid references plans (id),
  code text not null,
  name text not null,
  invoice_display_name text,
  description text,
  interval text not null check (interval in ('weekly', 'monthly', 'quarterly', 'semiannual', 'yearly')),
  pay_in_advance boolean not null,
  amount_cents bigint not null check (amount_cents >= 0),
  amount_currency text not null,
  trial_period numeric(30, 15) check (trial_period >= 0),
  bill_charges_monthly boolean,
  bill_fixed_charges_monthly boolean,
  metadata jsonb,
  usage_policies jsonb,
  pending_deletion boolean not null default false,
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index plans_code_key on plans (organization_id, code) where deleted_at is null and parent_id is null;
create index plans_parent on plans (organization_id, parent_id) where parent_id is not null;

create table plan_taxes (
  organization_id uuid not null,
  plan_id uuid not null references plans (id),
  tax_id uuid not null references taxes (id),
  primary key (organization_id, plan_id, tax_id)
);

create table charges (
  id uuid primary key,
  organization_id uuid not null,
  plan_id uuid not null references plans (id),
  parent_id uuid references charges (id),
  billable_metric_id uuid not null references billable_metrics (id),
  code text not null,
  charge_model text not null check (charge_model in ('standard', 'graduated', 'graduated_percentage', 'package', 'percentage', 'volume', 'dynamic', 'custom')),
  invoice_display_name text,
  pay_in_advance boolean not null default false,
  prorated boolean not null default false,
  invoiceable boolean not null default true,
  regroup_paid_fees text check (regroup_paid_fees in ('invoice')),
  min_amount_cents bigint not null default 0 check (min_amount_cents >= 0),
  accepts_target_wallet boolean not null default false,
  properties jsonb not null,
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index charges_code_key on charges (organization_id, plan_id, code) where deleted_at is null;
create index charges_metric on charges (organization_id, billable_metric_id) where deleted_at is null;

create table charge_taxes (
  organization_id uuid not null,
  charge_id uuid not null references charges (id),
  tax_id uuid not null references taxes (id),
  primary key (organization_id, charge_id, tax_id)
);

create table charge_filters (
  id uuid primary key,
  organization_id uuid not null,
  charge_id uuid not null references charges (id),
  code text not null,
  invoice_display_name text,
  -- {key: [values]}; the list rewrites the order, see position
  "values" jsonb not null,
  properties jsonb not null,
  position integer not null,
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index charge_filters_charge on charge_filters (organization_id, charge_id) where deleted_at is null;
create unique index charge_filters_values_key on charge_filters (organization_id, charge_id, code) where deleted_at is null;
