-- Why: alerts on usage (and later on wallets), thresholds of usage that make progressive invoices, and what these credit.
-- Locks: only new tables; one new index on invoices, over its few progressive ones.
create table alerts (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  -- an alert of a subscription follows its external id over plan changes
  external_subscription_id text,
  wallet_id uuid,
  alert_type text not null check (alert_type in ('current_usage_amount', 'billable_metric_current_usage_amount', 'billable_metric_current_usage_units', 'lifetime_usage_amount', 'billable_metric_lifetime_usage_units', 'wallet_balance_amount', 'wallet_credits_balance', 'wallet_ongoing_balance_amount', 'wallet_credits_ongoing_balance')),
  billable_metric_id uuid references billable_metrics (id),
  code text not null,
  name text,
  -- [{code, value, recurring}] in the order given; values as texts
  thresholds jsonb not null,
  previous_value numeric not null default 0,
  -- how often the value was compared; names one evaluation
  evaluations bigint not null default 0,
  last_processed_at timestamptz,
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint alerts_one_owner check ((external_subscription_id is null) <> (wallet_id is null))
);
create unique index alerts_subscription_code_key on alerts (organization_id, external_subscription_id, code)
  where deleted_at is null and external_subscription_id is not null;
create unique index alerts_wallet_code_key on alerts (organization_id, wallet_id, code)
  where deleted_at is null and wallet_id is not null;
create unique index alerts_subscription_type_key
  on alerts (organization_id, external_subscription_id, alert_type, billable_metric_id) nulls not distinct
  where deleted_at is null and external_subscription_id is not null;
create unique index alerts_wallet_type_key on alerts (organization_id, wallet_id, alert_type)
  where deleted_at is null and wallet_id is not null;

-- One row per evaluation that crossed something: the key lets a crossing count once, however often it is looked at.
create table triggered_alerts (
  id uuid primary key,
  organization_id uuid not null,
  alert_id uuid not null references alerts (id),
  evaluation bigint not null,
  subscription_id uuid references subscriptions (id),
  wallet_id uuid,
  current_value numeric not null,
  previous_value numeric not null,
  -- [{code, value, recurring}]
  crossed_thresholds jsonb not null,
  triggered_at timestamptz not null,
  constraint triggered_alerts_evaluation_key unique (organization_id, alert_id, evaluation)
);

-- Subscriptions whose usage, alerts or thresholds changed. Rows are only added, so that those who mark never wait for
-- the one who works the marks off.
create table usage_marks (
  id uuid primary key,
  organization_id uuid not null,
  subscription_id uuid not null references subscriptions (id),
  -- in the organization's own time
  marked_at timestamptz not null
);
create index usage_marks_subscription on usage_marks (organization_id, subscription_id);
create index usage_marks_oldest on usage_marks (marked_at);

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
create unique index usage_thresholds_plan_key on usage_thresholds (organization_id, plan_id, amount_cents, recurring)
  where deleted_at is null and plan_id is not null;
create unique index usage_thresholds_subscription_key
  on usage_thresholds (organization_id, subscription_id, amount_cents, recurring)
  where deleted_at is null and subscription_id is not null;
create unique index usage_thresholds_plan_recurring_key on usage_thresholds (organization_id, plan_id)
  where deleted_at is null and plan_id is not null and recurring;
create unique index usage_thresholds_subscription_recurring_key on usage_thresholds (organization_id, subscription_id)
  where deleted_at is null and subscription_id is not null and recurring;

-- What a progressive invoice answers to: the same crossing makes one invoice (subscriptions-and-invoices G.1, I.2).
create table progressive_runs (
  invoice_id uuid primary key references invoices (id) on delete cascade,
  organization_id uuid not null,
  external_subscription_id text not null,
  -- historical and invoiced usage before it
  invoiced_amount_cents bigint not null,
  highest_threshold_id uuid not null references usage_thresholds (id),
  -- the progressive invoice of the same window before it
  previous_invoice_id uuid references invoices (id),
  created_at timestamptz not null,
  constraint progressive_runs_crossing_key unique nulls not distinct
    (organization_id, external_subscription_id, invoiced_amount_cents, highest_threshold_id, previous_invoice_id)
);

create table applied_usage_thresholds (
  id uuid primary key,
  organization_id uuid not null,
  invoice_id uuid not null references invoices (id) on delete cascade,
  usage_threshold_id uuid not null references usage_thresholds (id),
  lifetime_usage_amount_cents bigint not null,
  created_at timestamptz not null,
  constraint applied_usage_thresholds_key unique (organization_id, invoice_id, usage_threshold_id)
);
create index applied_usage_thresholds_threshold on applied_usage_thresholds (organization_id, usage_threshold_id);

-- What takes money off an invoice.
create table credits (
  id uuid primary key,
  organization_id uuid not null,
  invoice_id uuid not null references invoices (id) on delete cascade,
  progressive_billing_invoice_id uuid references invoices (id),
  amount_cents bigint not null check (amount_cents > 0),
  amount_currency text not null,
  before_taxes boolean not null,
  created_at timestamptz not null,
  constraint credits_progressive_key unique (organization_id, invoice_id, progressive_billing_invoice_id)
);
create index credits_progressive on credits (organization_id, progressive_billing_invoice_id)
  where progressive_billing_invoice_id is not null;
create index invoices_progressive on invoices (organization_id, customer_id) where invoice_type = 'progressive_billing';
