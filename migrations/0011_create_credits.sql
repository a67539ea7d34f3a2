-- Why: what takes money off invoices: coupons in use, credit notes, wallets and holds; and alerts on usage and
-- wallets. Locks: only new tables.

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
comment on table applied_coupons is 'Coupons applied to customers, with what is left of them.';
create index applied_coupons_newest on applied_coupons (organization_id, created_at desc, id desc);
create index applied_coupons_customer on applied_coupons (organization_id, customer_id, created_at, id);
create index applied_coupons_coupon on applied_coupons (organization_id, coupon_id);

create table credit_notes (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  billing_entity_id uuid not null references billing_entities (id),
  customer_id uuid not null references customers (id),
  invoice_id uuid not null references invoices (id),
  status text not null check (status in ('draft', 'finalized', 'deleted')),
  sequential_id integer not null,
  number text not null,
  currency text not null,
  reason text not null
    check (reason in ('duplicated_charge', 'product_unsatisfactory', 'order_change', 'order_cancellation',
    'fraudulent_charge', 'other')),
  description text,
  issuing_date date not null,
  credit_status text not null check (credit_status in ('available', 'consumed', 'voided')),
  refund_status text check (refund_status in ('pending', 'succeeded', 'failed')),
  total_amount_cents bigint not null,
  credit_amount_cents bigint not null check (credit_amount_cents >= 0),
  refund_amount_cents bigint not null check (refund_amount_cents >= 0),
  offset_amount_cents bigint not null check (offset_amount_cents >= 0),
  balance_amount_cents bigint not null,
  precise_total_amount_cents numeric(30, 5) not null,
  sub_total_excluding_taxes_amount_cents bigint not null,
  coupons_adjustment_amount_cents bigint not null,
  precise_coupons_adjustment_amount_cents numeric(30, 5) not null,
  taxes_amount_cents bigint not null,
  precise_taxes_amount_cents numeric(30, 5) not null,
  taxes_rate numeric(30, 5) not null,
  metadata jsonb,
  -- the subscription whose end it credits
  terminated_subscription_id uuid references subscriptions (id),
  refunded_at timestamptz,
  voided_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint credit_notes_sequence_key unique (organization_id, invoice_id, sequential_id),
  constraint credit_notes_parts
    check (credit_amount_cents + refund_amount_cents + offset_amount_cents = total_amount_cents),
  -- however many invoices reach for it at once, no more is taken than it holds
  constraint credit_notes_balance check (balance_amount_cents between 0 and credit_amount_cents)
);
comment on table credit_notes is 'Credit notes of invoices.';
-- The unused days of a subscription are credited once.
create unique index credit_notes_termination_key on credit_notes (organization_id, terminated_subscription_id)
  where terminated_subscription_id is not null and status <> 'deleted';
create index credit_notes_newest on credit_notes (organization_id, created_at desc, id desc)
  where status = 'finalized';
create index credit_notes_customer on credit_notes (organization_id, customer_id, created_at desc, id desc);
create index credit_notes_spendable on credit_notes (organization_id, customer_id, currency, created_at, id)
  where status = 'finalized' and credit_status = 'available' and balance_amount_cents > 0;

create table credit_note_items (
  id uuid primary key,
  organization_id uuid not null,
  credit_note_id uuid not null references credit_notes (id) on delete cascade,
  -- null between two computations of a draft invoice, which make new fees
  fee_id uuid references fees (id) on delete set null,
  -- what the fee billed: the new fee of the same is found by it
  fee_key text not null,
  fee_amount_cents bigint not null,
  amount_cents bigint not null,
  precise_amount_cents numeric(30, 5) not null,
  amount_currency text not null,
  created_at timestamptz not null
);
comment on table credit_note_items is 'Fees that a credit note credits.';
create index credit_note_items_note on credit_note_items (organization_id, credit_note_id);
create index credit_note_items_fee on credit_note_items (fee_id);

create table credit_note_applied_taxes (
  id uuid primary key,
  organization_id uuid not null,
  credit_note_id uuid not null references credit_notes (id) on delete cascade,
  tax_id uuid references taxes (id),
  tax_code text not null,
  tax_name text not null,
  tax_rate numeric(30, 10) not null,
  tax_description text,
  base_amount_cents bigint not null,
  amount_cents bigint not null,
  amount_currency text not null,
  created_at timestamptz not null,
  constraint credit_note_applied_taxes_key unique (organization_id, credit_note_id, tax_code)
);
comment on table credit_note_applied_taxes is 'Taxes of a credit note.';

create table credits (
  id uuid primary key,
  organization_id uuid not null,
  invoice_id uuid not null references invoices (id) on delete cascade,
  progressive_billing_invoice_id uuid references invoices (id),
  credit_note_id uuid references credit_notes (id),
  applied_coupon_id uuid references applied_coupons (id),
  amount_cents bigint not null,
  amount_currency text not null,
  before_taxes boolean not null,
  created_at timestamptz not null,
  constraint credits_progressive_key unique (organization_id, invoice_id, progressive_billing_invoice_id),
  constraint credits_amount_cents_check
    check (amount_cents > 0 or (amount_cents = 0 and applied_coupon_id is not null)),
  constraint credits_applied_coupon_key unique (organization_id, invoice_id, applied_coupon_id)
);
comment on table credits is 'What takes money off an invoice: coupons, credit notes, progressive invoices.';
create index credits_progressive on credits (organization_id, progressive_billing_invoice_id)
  where progressive_billing_invoice_id is not null;
create unique index credits_credit_note_key on credits (organization_id, invoice_id, credit_note_id)
  where credit_note_id is not null;
create index credits_applied_coupon on credits (organization_id, applied_coupon_id)
  where applied_coupon_id is not null;

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
  expiration_at timestamptz, last_balance_sync_at timestamptz, last_consumed_credit_at timestamptz,
  terminated_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table wallets is 'Prepaid credits of customers.';
create unique index wallets_code_key on wallets (organization_id, customer_id, code) where status = 'active';
create index wallets_customer on wallets (organization_id, customer_id, status);
create index wallets_newest on wallets (organization_id, created_at desc, id desc);
create index wallets_expiring on wallets (expiration_at) where status = 'active' and expiration_at is not null;

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
  skip_invoice_custom_sections boolean,
  -- the local day on which an interval rule adds credits next
  next_top_up_on date,
  terminated_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table recurring_transaction_rules is
  'Rules by which a wallet is topped up: by interval or below a threshold.';
create unique index recurring_transaction_rules_active_key
  on recurring_transaction_rules (organization_id, wallet_id) where status = 'active';
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
  constraint wallet_transactions_direction
    check ((transaction_type = 'inbound') = (transaction_status in ('purchased', 'granted')))
);
comment on table wallet_transactions is 'Credits that came into a wallet or left it.';
create index wallet_transactions_newest on wallet_transactions (organization_id, wallet_id, created_at desc, id desc);
create index wallet_transactions_open on wallet_transactions (organization_id, wallet_id)
  where transaction_type = 'inbound' and status = 'settled' and remaining_amount_cents > 0;
create index wallet_transactions_invoice on wallet_transactions (organization_id, invoice_id)
  where invoice_id is not null;
-- An invoice takes from a wallet once, and a void gives it back once; an interval rule adds once a day.
create unique index wallet_transactions_invoiced_key
  on wallet_transactions (organization_id, invoice_id, wallet_id) where transaction_status = 'invoiced';
create unique index wallet_transactions_recredit_key
  on wallet_transactions (organization_id, voided_invoice_id, wallet_id) where voided_invoice_id is not null;
create unique index wallet_transactions_interval_key
  on wallet_transactions (organization_id, wallet_id, top_up_on, transaction_status) where top_up_on is not null;

create table wallet_transaction_consumptions (
  id uuid primary key,
  organization_id uuid not null,
  inbound_wallet_transaction_id uuid not null references wallet_transactions (id),
  outbound_wallet_transaction_id uuid not null references wallet_transactions (id),
  consumed_amount_cents bigint not null check (consumed_amount_cents > 0),
  consumed_purchased_cents bigint not null check (consumed_purchased_cents between 0 and consumed_amount_cents),
  created_at timestamptz not null,
  constraint wallet_transaction_consumptions_key unique (organization_id, inbound_wallet_transaction_id,
    outbound_wallet_transaction_id)
);
comment on table wallet_transaction_consumptions is 'Which inbound credits paid for which outbound ones.';
create index wallet_transaction_consumptions_outbound
  on wallet_transaction_consumptions (organization_id, outbound_wallet_transaction_id);

create table wallet_holds (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  wallet_id uuid not null references wallets (id),
  status text not null default 'open' check (status in ('open', 'settled', 'released', 'expired')),
  amount_cents bigint not null check (amount_cents > 0),
  -- what could be held when the amount was last set; a hold never takes more
  available_cents bigint not null,
  settled_amount_cents bigint,
  reference text, external_subscription_id text, event_transaction_id text,
  -- of a settled one: digest of what it was settled with, by which a repetition is known
  settlement_digest bytea,
  -- settled with an event that the ongoing balance does not contain yet: its amount still counts
  awaits_refresh boolean not null default false,
  expires_at timestamptz not null,
  closed_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint wallet_holds_covered check (amount_cents <= available_cents),
  constraint wallet_holds_closed check ((status = 'open') = (closed_at is null)),
  constraint wallet_holds_awaited check (status = 'settled' or not awaits_refresh)
);
comment on table wallet_holds is 'Credit of a wallet that is set aside before it is used.';
create index wallet_holds_awaited on wallet_holds (wallet_id) where awaits_refresh;
create index wallet_holds_newest on wallet_holds (organization_id, wallet_id, created_at desc, id desc);
create index wallet_holds_expiring on wallet_holds (expires_at) where status = 'open';
create index wallet_holds_ending on wallet_holds (organization_id, wallet_id, expires_at) where status = 'open';

create table wallet_held (
  organization_id uuid not null references organizations (id),
  wallet_id uuid not null references wallets (id) on delete cascade,
  -- open holds that end after counted_until, and settled ones whose event the ongoing balance does not contain yet
  held_cents bigint not null default 0,
  counted_until timestamptz not null default '-infinity',
  primary key (organization_id, wallet_id),
  constraint wallet_held_not_negative check (held_cents >= 0)
) with (fillfactor = 50);
comment on table wallet_held is
  'Sum of the holds that count against a wallet. A trigger keeps it in step; it cannot become negative.';

create table alerts (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  -- an alert of a subscription follows its external id over plan changes
  external_subscription_id text,
  wallet_id uuid,
  alert_type text not null
    check (alert_type in ('current_usage_amount', 'billable_metric_current_usage_amount',
    'billable_metric_current_usage_units', 'lifetime_usage_amount', 'billable_metric_lifetime_usage_units',
    'wallet_balance_amount', 'wallet_credits_balance', 'wallet_ongoing_balance_amount',
    'wallet_credits_ongoing_balance')),
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
  constraint alerts_one_owner check ((external_subscription_id is null) <> (wallet_id is null)),
  constraint alerts_wallet_fkey foreign key (wallet_id) references wallets (id)
);
comment on table alerts is 'Thresholds on usage or wallets at which a notification is sent.';
create unique index alerts_subscription_code_key on alerts (organization_id, external_subscription_id, code)
  where deleted_at is null and external_subscription_id is not null;
create unique index alerts_wallet_code_key on alerts (organization_id, wallet_id, code)
  where deleted_at is null and wallet_id is not null;
create unique index alerts_subscription_type_key
  on alerts (organization_id, external_subscription_id, alert_type, billable_metric_id) nulls not distinct
  where deleted_at is null and external_subscription_id is not null;
create unique index alerts_wallet_type_key on alerts (organization_id, wallet_id, alert_type)
  where deleted_at is null and wallet_id is not null;

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
  constraint triggered_alerts_evaluation_key unique (organization_id, alert_id, evaluation),
  constraint triggered_alerts_wallet_fkey foreign key (wallet_id) references wallets (id)
);
comment on table triggered_alerts is
  'Evaluations that crossed a threshold. The key makes a crossing count once, however often it is evaluated.';

create function begin_wallet_held() returns trigger language plpgsql as $$
begin
  insert into wallet_held (organization_id, wallet_id) values (new.organization_id, new.id);
  return null;
end $$;
create trigger wallets_begin_held after insert on wallets for each row execute function begin_wallet_held();
