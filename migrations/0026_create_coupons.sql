-- Why: coupons, what they are limited to, and the coupons that customers have (credits-and-payments B).
-- Locks: new tables; `credits` is locked for a moment for two columns and its checks, which a small table passes at once.
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
  constraint coupons_worth check (case coupon_type
    when 'fixed_amount' then amount_cents is not null and amount_currency is not null
    else percentage_rate is not null end)
);
create unique index coupons_code_key on coupons (organization_id, code) where deleted_at is null;
create index coupons_expiring on coupons (expiration_at)
  where status = 'active' and expiration = 'time_limit' and deleted_at is null;

create table coupon_plans (
  organization_id uuid not null,
  coupon_id uuid not null references coupons (id),
  plan_id uuid not null references plans (id),
  primary key (organization_id, coupon_id, plan_id)
);
create table coupon_billable_metrics (
  organization_id uuid not null,
  coupon_id uuid not null references coupons (id),
  billable_metric_id uuid not null references billable_metrics (id),
  primary key (organization_id, coupon_id, billable_metric_id)
);

create table applied_coupons (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  customer_id uuid not null references customers (id),
  coupon_id uuid not null references coupons (id),
  status text not null default 'active' check (status in ('active', 'terminated')),
  amount_cents bigint check (amount_cents >= 0),
  amount_currency text,
  percentage_rate numeric(10, 5) check (percentage_rate >= 0),
  frequency text not null check (frequency in ('once', 'recurring', 'forever')),
  frequency_duration integer check (frequency_duration > 0),
  frequency_duration_remaining integer check (frequency_duration_remaining >= 0),
  terminated_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index applied_coupons_newest on applied_coupons (organization_id, created_at desc, id desc);
create index applied_coupons_customer on applied_coupons (organization_id, customer_id, created_at, id);
create index applied_coupons_coupon on applied_coupons (organization_id, coupon_id);

-- What a coupon took off an invoice; a period may be used without taking anything.
alter table credits add column applied_coupon_id uuid references applied_coupons (id);
alter table credits drop constraint credits_amount_cents_check;
alter table credits add constraint credits_amount_cents_check
  check (amount_cents > 0 or (amount_cents = 0 and applied_coupon_id is not null));
alter table credits add constraint credits_applied_coupon_key unique (organization_id, invoice_id, applied_coupon_id);
create index credits_applied_coupon on credits (organization_id, applied_coupon_id) where applied_coupon_id is not null;
