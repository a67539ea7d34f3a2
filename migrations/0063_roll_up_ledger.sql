-- Why: balances of accounts are read from sums per day instead of from the whole journal (beyond 8.5). A transaction waits
-- in ledger_tail from its posting until a job has added it to ledger_daily: whoever reads both in one statement sees each
-- entry once, whenever its transaction committed. A bare position would not do, since positions commit out of order.
-- Locks: ledger_entries against writes while the index is built (seconds for a million entries); the rest is new. Existing
-- transactions are put into the tail and rolled up by the job.
create table ledger_tail (
  organization_id uuid not null,
  transaction_id uuid not null references ledger_transactions (id),
  primary key (organization_id, transaction_id)
);
insert into ledger_tail (organization_id, transaction_id) select organization_id, id from ledger_transactions;

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

create index ledger_entries_booked_on on ledger_entries (organization_id, booked_on);
