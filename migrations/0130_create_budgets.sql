-- Why: ceilings on usage that cannot be overspent (budgets.md). The ledger is budget_entries; windows hold what was
--   folded of it, so that a decision reads a row and not a sum.
-- Locks: organizations, for a moment; the rest are new tables.

alter table organizations add column rate_limit_budgets integer check (rate_limit_budgets > 0);

create table budgets (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  code text not null,
  name text not null,
  scope text not null check (scope in ('organization', 'customer', 'subscription')),
  customer_id uuid references customers (id),
  external_customer_id text,
  external_subscription_id text,
  codes text[],
  feature_code text,
  match jsonb not null default '{}',
  group_by text[] not null default '{}',
  measure text not null check (measure in ('cost', 'amount', 'units', 'tokens')),
  billable_metric_code text,
  currency text,
  most numeric not null constraint budgets_most check (most > 0),
  overrides jsonb not null default '[]',
  period text not null check (period in ('day', 'week', 'month', 'billing_period', 'lifetime')),
  timezone text not null,
  mode text not null check (mode in ('hard', 'soft')),
  alert_percents integer[] not null,
  on_outage text not null check (on_outage in ('closed', 'open')),
  offline_allowance numeric not null default 0,
  unknown_price text not null check (unknown_price in ('deny', 'allow')),
  -- whether so many windows are live that no more are made
  is_full boolean not null default false,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  constraint budgets_of_scope check ((scope = 'customer') = (customer_id is not null)
    and (scope = 'subscription') = (external_subscription_id is not null)),
  constraint budgets_metric check ((measure = 'units') = (billable_metric_code is not null)),
  constraint budgets_currency check ((measure in ('cost', 'amount')) = (currency is not null))
);
comment on table budgets is 'Definitions of ceilings on usage.';
comment on column budgets.most is 'the limit of each window, before top-ups';
create unique index budgets_code_key on budgets (organization_id, code) where deleted_at is null;
create index budgets_newest on budgets (organization_id, created_at desc, id desc) where deleted_at is null;
create index budgets_customer on budgets (customer_id) where customer_id is not null;

create table budget_windows (
  -- made of the budget, the group and the start: two writers that make it at once make the same row
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  budget_id uuid not null references budgets (id),
  group_key bytea not null,
  group_values jsonb not null,
  starts_at timestamptz not null,
  ends_at timestamptz,
  topped_up numeric not null default 0,
  spent numeric not null default 0,
  held numeric not null default 0,
  decision_no bigint not null default 0,
  alerted_percent integer not null default 0,
  state text not null default 'open' check (state in ('open', 'blocked', 'over')),
  has_told_overrun boolean not null default false,
  created_at timestamptz not null
) with (fillfactor = 50);
comment on table budget_windows is 'A period and group of a budget: what was folded of its entries, and what is held.';
create index budget_windows_newest on budget_windows (organization_id, budget_id, starts_at desc, id desc);

create table budget_entries (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  -- no foreign key: its check would wait for decisions
  window_id uuid not null,
  amount numeric not null,
  events integer not null default 0,
  source text not null check (source in ('settlement', 'usage', 'correction', 'provisional', 'reset', 'opening')),
  -- hold of a settlement, batch of usage, correction
  ref text,
  created_at timestamptz not null,
  folded_at timestamptz
) with (fillfactor = 80);
comment on table budget_entries is 'The ledger of budgets, append-only: what was spent in a window.';
create index budget_entries_open on budget_entries (window_id) where folded_at is null;
create index budget_entries_newest on budget_entries (organization_id, window_id, created_at desc, id desc);

create table budget_holds (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  hold_key text not null,
  status text not null default 'open' check (status in ('open', 'settled', 'released', 'expired')),
  expires_at timestamptz not null,
  question_digest bytea not null,
  settlement_digest bytea,
  event_transaction_id text,
  external_subscription_id text not null,
  is_late boolean not null default false,
  created_at timestamptz not null,
  closed_at timestamptz,
  constraint budget_holds_closed check ((status = 'open') = (closed_at is null))
) with (fillfactor = 70);
comment on table budget_holds is 'What callers may spend until they settle, release it, or its time is over.';
create unique index budget_holds_key on budget_holds (organization_id, hold_key);
create index budget_holds_newest on budget_holds (organization_id, created_at desc, id desc);
create index budget_holds_event on budget_holds (organization_id, event_transaction_id)
  where event_transaction_id is not null;
create index budget_holds_expiring on budget_holds (organization_id, expires_at, id) where status = 'open';

create table budget_hold_parts (
  hold_id uuid not null references budget_holds (id) on delete cascade,
  window_id uuid not null,
  organization_id uuid not null references organizations (id),
  held numeric not null check (held >= 0),
  settled numeric,
  expires_at timestamptz not null,
  is_open boolean not null default true,
  constraint budget_hold_parts_pkey primary key (hold_id, window_id)
) with (fillfactor = 70);
comment on table budget_hold_parts is 'What a hold takes in each window, in the measure of its budget.';
create index budget_hold_parts_open on budget_hold_parts (window_id, expires_at) where is_open;
