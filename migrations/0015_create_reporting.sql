-- Why: sums that reports read instead of everything ever billed, and what the auditor finds.
-- Locks: only new tables.

create table analytics_marks (
  organization_id uuid not null,
  position bigint not null generated always as identity,
  source_type text not null check (source_type in ('invoice', 'fee', 'daily_usage', 'wallet_transaction')),
  source_id uuid not null,
  primary key (organization_id, position)
);
comment on table analytics_marks is
  'Sources of figures (an invoice, a standalone fee, a snapshot of usage, a wallet transaction) that were '
  'made or changed. Each change adds a row: an existing row could be taken before the change is committed.';

create table analytics_entries (
  organization_id uuid not null,
  source_id uuid not null,
  report text not null,
  -- first day of the month in reports by month
  day date not null,
  billing_entity_id uuid not null,
  customer_id uuid not null,
  -- the nil UUID where there is none
  subscription_id uuid not null,
  currency text not null,
  -- what the report tells apart: a payment status, a kind of fee, a metric
  key text not null,
  -- of the metric, where there is one
  code text not null,
  amount numeric not null,
  units numeric not null,
  primary key (organization_id, source_id, report, day, subscription_id, key, code)
);
comment on table analytics_entries is 'What each source counts at present. The key makes nothing count twice.';

create table analytics_totals (
  organization_id uuid not null,
  report text not null,
  customer_id uuid not null,
  day date not null,
  subscription_id uuid not null,
  billing_entity_id uuid not null,
  currency text not null,
  key text not null,
  code text not null,
  amount numeric not null,
  units numeric not null,
  entries_count bigint not null check (entries_count >= 0),
  primary key (organization_id, report, customer_id, day, subscription_id, billing_entity_id, currency, key, code)
);
comment on table analytics_totals is
  'Sums of the entries: of the whole organization under the nil UUID of a customer, else of one subscription.';
create index analytics_totals_day on analytics_totals (organization_id, report, day)
  where customer_id <> '00000000-0000-0000-0000-000000000000';

create table audit_runs (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  mode text not null check (mode in ('incremental', 'full', 'manual')),
  status text not null check (status in ('running', 'succeeded', 'failed')),
  -- [{code, count, new_count, ms}]
  checks jsonb not null default '[]',
  findings_count integer not null default 0,
  new_findings_count integer not null default 0,
  error jsonb,
  -- business time
  created_at timestamptz not null,
  started_at timestamptz not null,
  finished_at timestamptz
);
comment on table audit_runs is 'Runs of the auditor over an organization''s books.';
create index audit_runs_newest on audit_runs (organization_id, created_at desc, id desc);

create table audit_findings (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  "check" text not null,
  status text not null check (status in ('open', 'acknowledged', 'resolved')),
  resource_type text not null,
  resource_id text not null,
  expected text,
  actual text,
  details jsonb not null default '{}',
  note text,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  resolved_at timestamptz
);
comment on table audit_findings is 'What the auditor found, open until it is resolved.';
create unique index audit_findings_live_key
  on audit_findings (organization_id, "check", resource_type, resource_id) where status <> 'resolved';
create index audit_findings_newest on audit_findings (organization_id, last_seen_at desc, id desc);

create function mark_new_invoices() returns trigger language plpgsql as $$
begin
  insert into analytics_marks (organization_id, source_type, source_id)
  select organization_id, 'invoice', id from new_rows where status = 'finalized';
  return null;
end $$;
create trigger invoices_mark_new after insert on invoices
  referencing new table as new_rows for each statement execute function mark_new_invoices();

create function mark_changed_invoices() returns trigger language plpgsql as $$
begin
  insert into analytics_marks (organization_id, source_type, source_id)
  select new_row.organization_id, 'invoice', new_row.id
  from new_rows new_row join old_rows old_row on old_row.id = new_row.id
  where 'finalized' in (old_row.status, new_row.status) and
    (old_row.status, old_row.payment_status, old_row.payment_dispute_lost_at, old_row.self_billed, old_row.issuing_date,
      old_row.currency, old_row.total_amount_cents, old_row.sub_total_excluding_taxes_amount_cents,
      old_row.sub_total_including_taxes_amount_cents, old_row.credit_notes_amount_cents,
      old_row.prepaid_granted_credit_amount_cents, old_row.prepaid_purchased_credit_amount_cents,
      old_row.progressive_billing_credit_amount_cents)
    is distinct from
    (new_row.status, new_row.payment_status, new_row.payment_dispute_lost_at, new_row.self_billed, new_row.issuing_date,
      new_row.currency, new_row.total_amount_cents, new_row.sub_total_excluding_taxes_amount_cents,
      new_row.sub_total_including_taxes_amount_cents, new_row.credit_notes_amount_cents,
      new_row.prepaid_granted_credit_amount_cents, new_row.prepaid_purchased_credit_amount_cents,
      new_row.progressive_billing_credit_amount_cents);
  return null;
end $$;
create trigger invoices_mark_changed after update on invoices
  referencing old table as old_rows new table as new_rows for each statement execute function mark_changed_invoices();

create function mark_new_fees() returns trigger language plpgsql as $$
begin
  insert into analytics_marks (organization_id, source_type, source_id)
  select organization_id, 'fee', id from new_rows where invoice_id is null and pay_in_advance
  union all
  select distinct fee.organization_id, 'invoice', invoice.id
  from new_rows fee join invoices invoice on invoice.id = fee.invoice_id
  where invoice.status = 'finalized';
  return null;
end $$;
create trigger fees_mark_new after insert on fees
  referencing new table as new_rows for each statement execute function mark_new_fees();

create function mark_changed_fees() returns trigger language plpgsql as $$
begin
  insert into analytics_marks (organization_id, source_type, source_id)
  select new_row.organization_id, 'fee', new_row.id
  from new_rows new_row join old_rows old_row on old_row.id = new_row.id
  where new_row.pay_in_advance and (old_row.invoice_id is null or new_row.invoice_id is null)
    and (old_row.invoice_id, old_row.amount_cents, old_row.deleted_at)
      is distinct from (new_row.invoice_id, new_row.amount_cents, new_row.deleted_at)
  union all
  select distinct new_row.organization_id, 'invoice', invoice.id
  from new_rows new_row join old_rows old_row on old_row.id = new_row.id
  join invoices invoice on invoice.id = new_row.invoice_id
  where invoice.status = 'finalized'
    and (old_row.invoice_id, old_row.amount_cents, old_row.precise_coupons_amount_cents, old_row.deleted_at)
      is distinct from
      (new_row.invoice_id, new_row.amount_cents, new_row.precise_coupons_amount_cents, new_row.deleted_at);
  return null;
end $$;
create trigger fees_mark_changed after update on fees
  referencing old table as old_rows new table as new_rows for each statement execute function mark_changed_fees();

create function mark_new_credit_notes() returns trigger language plpgsql as $$
begin
  insert into analytics_marks (organization_id, source_type, source_id)
  select organization_id, 'invoice', invoice_id from new_rows where status = 'finalized' and refund_amount_cents > 0;
  return null;
end $$;
create trigger credit_notes_mark_new after insert on credit_notes
  referencing new table as new_rows for each statement execute function mark_new_credit_notes();

create function mark_changed_credit_notes() returns trigger language plpgsql as $$
begin
  insert into analytics_marks (organization_id, source_type, source_id)
  select new_row.organization_id, 'invoice', new_row.invoice_id
  from new_rows new_row join old_rows old_row on old_row.id = new_row.id
  where (old_row.status, old_row.refund_amount_cents) is distinct from (new_row.status, new_row.refund_amount_cents);
  return null;
end $$;
create trigger credit_notes_mark_changed after update on credit_notes
  referencing old table as old_rows new table as new_rows
  for each statement execute function mark_changed_credit_notes();

create function mark_new_daily_usages() returns trigger language plpgsql as $$
begin
  insert into analytics_marks (organization_id, source_type, source_id)
  select organization_id, 'daily_usage', id from new_rows;
  return null;
end $$;
create trigger daily_usages_mark_new after insert on daily_usages
  referencing new table as new_rows for each statement execute function mark_new_daily_usages();
create trigger daily_usages_mark_changed after update on daily_usages
  referencing new table as new_rows for each statement execute function mark_new_daily_usages();

create function mark_new_wallet_transactions() returns trigger language plpgsql as $$
begin
  insert into analytics_marks (organization_id, source_type, source_id)
  select organization_id, 'wallet_transaction', id from new_rows where status = 'settled';
  return null;
end $$;
create trigger wallet_transactions_mark_new after insert on wallet_transactions
  referencing new table as new_rows for each statement execute function mark_new_wallet_transactions();

create function mark_changed_wallet_transactions() returns trigger language plpgsql as $$
begin
  insert into analytics_marks (organization_id, source_type, source_id)
  select new_row.organization_id, 'wallet_transaction', new_row.id
  from new_rows new_row join old_rows old_row on old_row.id = new_row.id
  where (old_row.status, old_row.settled_at, old_row.amount, old_row.credit_amount)
    is distinct from (new_row.status, new_row.settled_at, new_row.amount, new_row.credit_amount);
  return null;
end $$;
create trigger wallet_transactions_mark_changed after update on wallet_transactions
  referencing old table as old_rows new table as new_rows
  for each statement execute function mark_changed_wallet_transactions();
