-- Why: the journal and its sums by day.
-- Locks: only new tables.

create table ledger_transactions (
  id uuid primary key,
  organization_id uuid not null,
  rule text not null,
  source_type text not null,
  source_id uuid not null,
  ordinal integer not null default 0,
  currency text not null,
  booked_at timestamptz not null,
  booked_on date not null,
  document_date date not null,
  reverses_id uuid references ledger_transactions (id),
  created_at timestamptz not null,
  constraint ledger_transactions_source_key unique (organization_id, rule, source_type, source_id, ordinal)
);
comment on table ledger_transactions is
  'Double-entry journal: written in the transaction that changes the state, never changed afterwards.';

create table ledger_entries (
  id uuid primary key,
  organization_id uuid not null,
  position bigserial not null,
  transaction_id uuid not null references ledger_transactions (id),
  billing_entity_id uuid not null,
  account_code text not null,
  currency text not null,
  side text not null check (side in ('debit', 'credit')),
  amount_cents bigint not null check (amount_cents > 0),
  booked_on date not null,
  customer_id uuid,
  invoice_id uuid,
  credit_note_id uuid,
  wallet_id uuid,
  wallet_transaction_id uuid,
  payment_id uuid,
  fee_id uuid,
  tax_code text,
  payment_provider_id uuid
);
comment on table ledger_entries is 'Debits and credits of a ledger transaction; they balance at commit.';
create index ledger_entries_position on ledger_entries (organization_id, position);
create index ledger_entries_account on ledger_entries (organization_id, account_code, booked_on);
create index ledger_entries_invoice on ledger_entries (organization_id, invoice_id) where invoice_id is not null;
create index ledger_entries_transaction on ledger_entries (transaction_id);
create index ledger_entries_credit_note on ledger_entries (organization_id, credit_note_id)
  where credit_note_id is not null;
create index ledger_entries_wallet on ledger_entries (organization_id, wallet_id) where wallet_id is not null;
create index ledger_entries_fee on ledger_entries (organization_id, fee_id) where fee_id is not null;
create index ledger_entries_customer on ledger_entries (organization_id, customer_id) where customer_id is not null;
create index ledger_entries_booked_on on ledger_entries (organization_id, booked_on);

create table ledger_tail (
  organization_id uuid not null,
  transaction_id uuid not null references ledger_transactions (id),
  primary key (organization_id, transaction_id)
);
comment on table ledger_tail is
  'Ledger transactions that are not in the daily sums yet. A transaction waits here '
  'from its posting until the job adds it: who reads both tables in one statement sees '
  'each entry once. A position would not do, since positions commit out of order.';

create table ledger_daily (
  organization_id uuid not null,
  billing_entity_id uuid not null,
  account_code text not null,
  currency text not null,
  booked_on date not null,
  document_date date not null,
  debit_cents bigint not null,
  credit_cents bigint not null,
  through_position bigint not null,
  primary key (organization_id, booked_on, document_date, billing_entity_id, account_code, currency)
);
comment on table ledger_daily is 'Sums of the ledger by day and account, for reports.';

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'rows of % are never changed or deleted', tg_table_name using errcode = 'restrict_violation';
end $$;
create trigger ledger_transactions_frozen before update or delete on ledger_transactions
  for each row execute function refuse_change();
create trigger ledger_entries_frozen before update or delete on ledger_entries
  for each row execute function refuse_change();

create function check_ledger_balance() returns trigger language plpgsql as $$
declare difference numeric;
begin
  select sum(case side when 'debit' then amount_cents else -amount_cents end) into difference
  from ledger_entries where transaction_id = new.transaction_id;
  if difference <> 0 then
    raise exception 'ledger transaction % does not balance', new.transaction_id using errcode = 'check_violation';
  end if;
  return null;
end $$;
create constraint trigger ledger_entries_balance after insert on ledger_entries
  deferrable initially deferred for each row execute function check_ledger_balance();
