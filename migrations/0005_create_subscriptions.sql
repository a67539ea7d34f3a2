-- Why: a subscription ties a customer to a plan over time.
-- Locks: only new tables.
create table subscriptions (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  customer_id uuid not null references customers (id),
  plan_id uuid not null references plans (id),
  previous_subscription_id uuid references subscriptions (id),
  billing_entity_id uuid references billing_entities (id),
  external_id text not null,
  name text,
  status text not null check (status in ('pending', 'incomplete', 'active', 'terminated', 'canceled')),
  billing_time text not null default 'calendar' check (billing_time in ('calendar', 'anniversary')),
  subscription_at timestamptz not null,
  started_at timestamptz,
  activated_at timestamptz,
  ending_at timestamptz,
  terminated_at timestamptz,
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
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index subscriptions_active_key on subscriptions (organization_id, external_id) where status = 'active';
create unique index subscriptions_incomplete_key on subscriptions (organization_id, external_id) where status = 'incomplete';
create index subscriptions_external_id on subscriptions (organization_id, external_id);
create index subscriptions_customer on subscriptions (organization_id, customer_id);
create index subscriptions_previous on subscriptions (organization_id, previous_subscription_id) where previous_subscription_id is not null;
create index subscriptions_plan on subscriptions (organization_id, plan_id);
create index subscriptions_due on subscriptions (next_billing_at) where status = 'active';
create index subscriptions_due_of_organization on subscriptions (organization_id, next_billing_at) where status = 'active';
create index subscriptions_pending on subscriptions (subscription_at) where status = 'pending';
