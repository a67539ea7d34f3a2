-- Why: wallets of prepaid credits, what went in and out of them and which credits paid for what, rules that top them up,
-- and the marks of customers whose ongoing balances have to be worked out again.
-- Locks: new tables; alerts and triggered_alerts for a moment, for their foreign keys (no wallet was named before).
create table wallets (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  customer_id uuid not null references customers (id),
  billing_entity_id uuid not null references billing_entities (id),
  code text not null,
  name text,
  priority integer not null check (priority between 1 and 50),
  currency text not null,
  rate_amount numeric(30, 5) not null check (rate_amount > 0),
  status text not null check (status in ('active', 'terminated')),
  credits_balance numeric(40, 5) not null default 0 check (credits_balance >= 0),
  balance_cents bigint not null default 0 check (balance_cents >= 0),
  consumed_credits numeric(40, 5) not null default 0,
  consumed_amount_cents bigint not null default 0,
  credits_ongoing_balance numeric(40, 5) not null default 0,
  ongoing_balance_cents bigint not null default 0,
  credits_ongoing_usage_balance numeric(40, 5) not null default 0,
  ongoing_usage_balance_cents bigint not null default 0,
  depleted_ongoing_balance boolean not null default false,
  allowed_fee_types text[] not null default '{}',
  billable_metric_ids uuid[] not null default '{}',
  paid_top_up_min_amount_cents bigint,
  paid_top_up_max_amount_cents bigint,
  invoice_requires_successful_payment boolean not null default false,
  payment_method_type text,
  payment_method_id uuid,
  purchase_order_number text,
  skip_invoice_custom_sections boolean not null default false,
  metadata jsonb,
  expiration_at timestamptz,
  last_balance_sync_at timestamptz,
  last_consumed_credit_at timestamptz,
  terminated_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index wallets_code_key on wallets (organization_id, customer_id, code) where status = 'active';
create index wallets_customer on wallets (organization_id, customer_id, status);
create index wallets_newest on wallets (organization_id, created_at desc, id desc);
create index wallets_expiring on wallets (expiration_at) where status = 'active' and expiration_at is not null;

alter table alerts add constraint alerts_wallet_fkey foreign key (wallet_id) references wallets (id);
alter table triggered_alerts add constraint triggered_alerts_wallet_fkey foreign key (wallet_id) references wallets (id);

create table recurring_transaction_rules (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  wallet_id uuid not null references wallets (id),
  status text not null check (status in ('active', 'terminated')),
  trigger text not null check (trigger in ('interval', 'threshold')),
  method text not null check (method in ('fixed', 'target')),
  interval text check (interval in ('weekly', 'monthly', 'quarterly', 'semiannual', 'yearly')),
  threshold_credits numeric(40, 5) not null default 0,
  paid_credits numeric(40, 5) not null default 0,
  granted_credits numeric(40, 5) not null default 0,
  target_ongoing_balance numeric(40, 5),
  grants_target_top_up boolean not null default false,
  started_at timestamptz,
  expiration_at timestamptz,
  invoice_requires_successful_payment boolean not null,
  ignore_paid_top_up_limits boolean not null default false,
  transaction_name text,
  transaction_metadata jsonb not null default '[]',
  payment_method_type text,
  payment_method_id uuid,
  purchase_order_number text,
  -- the local day on which an interval rule adds credits next
  next_top_up_on date,
  terminated_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index recurring_transaction_rules_active_key on recurring_transaction_rules (organization_id, wallet_id)
  where status = 'active';
create index recurring_transaction_rules_due on recurring_transaction_rules (next_top_up_on)
  where status = 'active' and next_top_up_on is not null;
create index recurring_transaction_rules_expiring on recurring_transaction_rules (expiration_at)
  where status = 'active' and expiration_at is not null;

create table wallet_transactions (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  wallet_id uuid not null references wallets (id),
  customer_id uuid not null references customers (id),
  transaction_type text not null check (transaction_type in ('inbound', 'outbound')),
  status text not null check (status in ('pending', 'settled', 'failed')),
  transaction_status text not null check (transaction_status in ('purchased', 'granted', 'invoiced', 'voided')),
  source text not null check (source in ('manual', 'interval', 'threshold')),
  amount_cents bigint not null check (amount_cents >= 0),
  amount numeric(40, 5) not null,
  credit_amount numeric(40, 5) not null,
  priority integer not null check (priority between 1 and 50),
  name text,
  metadata jsonb not null default '[]',
  -- of settled inbound ones: what nothing has consumed yet, and how much of it was bought
  remaining_amount_cents bigint check (remaining_amount_cents >= 0),
  remaining_purchased_cents bigint check (remaining_purchased_cents between 0 and remaining_amount_cents),
  invoice_id uuid references invoices (id),
  credit_note_id uuid,
  voided_invoice_id uuid references invoices (id),
  invoice_requires_successful_payment boolean not null default false,
  payment_method_type text,
  payment_method_id uuid,
  purchase_order_number text,
  -- of an interval rule: the local day that it is for
  top_up_on date,
  settled_at timestamptz,
  failed_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint wallet_transactions_direction check ((transaction_type = 'inbound') = (transaction_status in ('purchased', 'granted')))
);
create index wallet_transactions_newest on wallet_transactions (organization_id, wallet_id, created_at desc, id desc);
create index wallet_transactions_open on wallet_transactions (organization_id, wallet_id)
  where transaction_type = 'inbound' and status = 'settled' and remaining_amount_cents > 0;
create index wallet_transactions_invoice on wallet_transactions (organization_id, invoice_id) where invoice_id is not null;
-- An invoice takes from a wallet once, and a void gives it back once; an interval rule adds once a day.
create unique index wallet_transactions_invoiced_key on wallet_transactions (organization_id, invoice_id, wallet_id)
  where transaction_status = 'invoiced';
create unique index wallet_transactions_recredit_key on wallet_transactions (organization_id, voided_invoice_id, wallet_id)
  where voided_invoice_id is not null;
create unique index wallet_transactions_interval_key
  on wallet_transactions (organization_id, wallet_id, top_up_on, transaction_status) where top_up_on is not null;

-- Which credits paid for what.
create table wallet_transaction_consumptions (
  id uuid primary key,
  organization_id uuid not null,
  inbound_wallet_transaction_id uuid not null references wallet_transactions (id),
  outbound_wallet_transaction_id uuid not null references wallet_transactions (id),
  consumed_amount_cents bigint not null check (consumed_amount_cents > 0),
  consumed_purchased_cents bigint not null check (consumed_purchased_cents between 0 and consumed_amount_cents),
  created_at timestamptz not null,
  constraint wallet_transaction_consumptions_key
    unique (organization_id, inbound_wallet_transaction_id, outbound_wallet_transaction_id)
);
create index wallet_transaction_consumptions_outbound
  on wallet_transaction_consumptions (organization_id, outbound_wallet_transaction_id);

-- Customers whose usage, invoices or wallets changed. Rows are only added, so that those who mark never wait for the one
-- who works the marks off.
create table wallet_marks (
  id uuid primary key,
  organization_id uuid not null,
  customer_id uuid not null references customers (id),
  -- in the organization's own time
  marked_at timestamptz not null
);
create index wallet_marks_customer on wallet_marks (organization_id, customer_id);
create index wallet_marks_oldest on wallet_marks (marked_at);
create index ledger_entries_wallet on ledger_entries (organization_id, wallet_id) where wallet_id is not null;
