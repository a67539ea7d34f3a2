-- Why: a subscription may become active only once its first invoice is paid (subscriptions-and-invoices B.9).
-- Locks: none, a new table.
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
create index subscription_activation_rules_expiring on subscription_activation_rules (expires_at) where status = 'pending';
