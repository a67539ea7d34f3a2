-- Why: metrics, plans and their prices, features, coupons, taxes.
-- Locks: only new tables.

create table taxes (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  code text not null,
  name text not null,
  description text,
  rate numeric(30, 10) not null check (rate >= 0),
  auto_generated boolean not null default false,
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table taxes is 'Tax rates in percent. Those with auto_generated were made by the EU tax management.';
create unique index taxes_code_key on taxes (organization_id, code) where deleted_at is null;

create table pricing_units (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  code text not null,
  name text not null,
  short_name text not null,
  description text,
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table pricing_units is 'Units other than money in which charges can be priced, such as credits or tokens.';
create unique index pricing_units_code_key on pricing_units (organization_id, code) where deleted_at is null;

create table billable_metrics (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  code text not null,
  name text not null,
  description text,
  aggregation_type text not null
    check (aggregation_type in ('count_agg', 'sum_agg', 'max_agg', 'unique_count_agg', 'latest_agg',
    'weighted_sum_agg', 'custom_agg')),
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
comment on table billable_metrics is 'How events of a code are aggregated to units.';
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
comment on table billable_metric_filters is 'Properties by whose values the charges of a metric can be priced apart.';

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
comment on table plans is 'Prices of a subscription. A plan with parent_id is the override of one subscription.';
create unique index plans_code_key on plans (organization_id, code) where deleted_at is null and parent_id is null;
create index plans_parent on plans (organization_id, parent_id) where parent_id is not null;

create table plan_taxes (
  organization_id uuid not null,
  plan_id uuid not null references plans (id),
  tax_id uuid not null references taxes (id),
  primary key (organization_id, plan_id, tax_id)
);
comment on table plan_taxes is 'Taxes on the fees of a plan.';

create table charges (
  id uuid primary key,
  organization_id uuid not null,
  plan_id uuid not null references plans (id),
  parent_id uuid references charges (id),
  billable_metric_id uuid not null references billable_metrics (id),
  code text not null,
  charge_model text not null
    check (charge_model in ('standard', 'graduated', 'graduated_percentage', 'package', 'percentage', 'volume',
    'dynamic', 'custom')),
  invoice_display_name text,
  pay_in_advance boolean not null default false,
  prorated boolean not null default false,
  invoiceable boolean not null default true,
  regroup_paid_fees text check (regroup_paid_fees in ('invoice')),
  min_amount_cents bigint not null default 0 check (min_amount_cents >= 0),
  accepts_target_wallet boolean not null default false,
  pricing_unit_id uuid references pricing_units (id),
  -- main units of the currency per pricing unit
  conversion_rate numeric(40, 15) check (conversion_rate > 0),
  properties jsonb not null,
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table charges is 'Prices of usage: a metric on a plan with a charge model.';
create unique index charges_code_key on charges (organization_id, plan_id, code) where deleted_at is null;
create index charges_metric on charges (organization_id, billable_metric_id) where deleted_at is null;
create index charges_parent on charges (organization_id, parent_id) where parent_id is not null;

create table charge_taxes (
  organization_id uuid not null,
  charge_id uuid not null references charges (id),
  tax_id uuid not null references taxes (id),
  primary key (organization_id, charge_id, tax_id)
);
comment on table charge_taxes is 'Taxes on the fees of a charge.';

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
comment on table charge_filters is 'Prices of a charge for chosen values of the metric''s filters.';
create index charge_filters_charge on charge_filters (organization_id, charge_id) where deleted_at is null;
create unique index charge_filters_values_key on charge_filters (organization_id, charge_id, code)
  where deleted_at is null;

create table add_ons (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  code text not null,
  name text not null,
  invoice_display_name text,
  description text,
  amount_cents bigint not null check (amount_cents > 0),
  amount_currency text not null,
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table add_ons is 'Items with a fixed amount for one-off invoices and fixed charges.';
create unique index add_ons_code_key on add_ons (organization_id, code) where deleted_at is null;

create table add_on_taxes (
  organization_id uuid not null,
  add_on_id uuid not null references add_ons (id),
  tax_id uuid not null references taxes (id),
  primary key (organization_id, add_on_id, tax_id)
);
comment on table add_on_taxes is 'Taxes on the fees of an add-on.';

create table fixed_charges (
  id uuid primary key,
  organization_id uuid not null,
  plan_id uuid not null references plans (id),
  parent_id uuid references fixed_charges (id),
  add_on_id uuid not null references add_ons (id),
  code text not null,
  charge_model text not null check (charge_model in ('standard', 'graduated', 'volume')),
  invoice_display_name text,
  units numeric(30, 10) not null check (units >= 0),
  pay_in_advance boolean not null,
  prorated boolean not null,
  properties jsonb not null,
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table fixed_charges is
  'Prices of units that do not come from events: an add-on on a plan with a charge model.';
create unique index fixed_charges_code_key on fixed_charges (organization_id, plan_id, code) where deleted_at is null;
create index fixed_charges_parent on fixed_charges (organization_id, parent_id) where parent_id is not null;
create index fixed_charges_add_on on fixed_charges (organization_id, add_on_id) where deleted_at is null;

create table fixed_charge_taxes (
  organization_id uuid not null,
  fixed_charge_id uuid not null references fixed_charges (id),
  tax_id uuid not null references taxes (id),
  primary key (organization_id, fixed_charge_id, tax_id)
);
comment on table fixed_charge_taxes is 'Taxes on the fees of a fixed charge.';

create table minimum_commitments (
  id uuid primary key,
  organization_id uuid not null,
  plan_id uuid not null references plans (id),
  -- for one interval of the plan
  amount_cents bigint not null check (amount_cents > 0),
  invoice_display_name text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint minimum_commitments_plan_key unique (organization_id, plan_id)
);
comment on table minimum_commitments is 'The least that a subscription of the plan pays per interval.';

create table commitment_taxes (
  organization_id uuid not null,
  commitment_id uuid not null references minimum_commitments (id) on delete cascade,
  tax_id uuid not null references taxes (id),
  primary key (organization_id, commitment_id, tax_id)
);
comment on table commitment_taxes is 'Taxes on the fees of a minimum commitment.';

create table plan_cascades (
  position bigint generated always as identity primary key,
  organization_id uuid not null,
  plan_id uuid not null references plans (id),
  change jsonb not null,
  created_at timestamptz not null
);
comment on table plan_cascades is 'Changes of a plan that one of its overrides has yet to follow, in order.';
create index plan_cascades_plan on plan_cascades (organization_id, plan_id, position);

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
comment on table features is 'Features that plans and subscriptions can grant.';
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
comment on table privileges is 'Typed values of a feature, such as a number of seats.';

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
comment on table feature_usage_limits is
  'Which metric counts against which privilege of a feature, and over which period.';
create index feature_usage_limits_privilege on feature_usage_limits (privilege_id);

create table coupons (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  code text not null,
  name text not null,
  description text,
  status text not null default 'active' check (status in ('active', 'terminated')),
  coupon_type text not null check (coupon_type in ('fixed_amount', 'percentage')),
  amount_cents bigint check (amount_cents > 0),
  amount_currency text,
  percentage_rate numeric(10, 5) check (percentage_rate >= 0),
  frequency text not null check (frequency in ('once', 'recurring', 'forever')),
  frequency_duration integer check (frequency_duration > 0),
  reusable boolean not null default true,
  expiration text not null check (expiration in ('no_expiration', 'time_limit')),
  expiration_at timestamptz,
  limited_plans boolean not null default false,
  limited_billable_metrics boolean not null default false,
  terminated_at timestamptz,
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint coupons_one_limitation check (not (limited_plans and limited_billable_metrics)),
  constraint coupons_worth
    check (case coupon_type when 'fixed_amount' then amount_cents is not null
    and amount_currency is not null else percentage_rate is not null end)
);
comment on table coupons is 'Discounts that can be applied to customers.';
create unique index coupons_code_key on coupons (organization_id, code) where deleted_at is null;
create index coupons_expiring on coupons (expiration_at)
  where status = 'active' and expiration = 'time_limit' and deleted_at is null;

create table coupon_plans (
  organization_id uuid not null,
  coupon_id uuid not null references coupons (id),
  plan_id uuid not null references plans (id),
  primary key (organization_id, coupon_id, plan_id)
);
comment on table coupon_plans is 'Plans to which a coupon is limited.';

create table coupon_billable_metrics (
  organization_id uuid not null,
  coupon_id uuid not null references coupons (id),
  billable_metric_id uuid not null references billable_metrics (id),
  primary key (organization_id, coupon_id, billable_metric_id)
);
comment on table coupon_billable_metrics is 'Metrics to which a coupon is limited.';

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
  keeps_days boolean not null default false,
  keeps_amounts boolean not null default true,
  created_at timestamptz not null
);
comment on table usage_shapes is
  'What is rolled up of a metric''s events: aggregation, field '
  'and grouping properties. Charges that need the same share one.';
create unique index usage_shapes_live_key on usage_shapes (organization_id, billable_metric_id) where state = 'live';
create unique index usage_shapes_building_key on usage_shapes (organization_id, billable_metric_id)
  where state = 'building';
