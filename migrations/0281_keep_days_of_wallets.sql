-- Why: when a wallet is used up is told from its last days (wallets.md#burn-down).
-- Locks: wallets while a column without a default is added; the index of wallets is built in 0282 without a lock.

create table wallet_days (
  organization_id uuid not null constraint wallet_days_organization_id_fkey references organizations deferrable,
  wallet_id uuid not null constraint wallet_days_wallet_id_fkey references wallets deferrable,
  day date not null,
  balance_cents bigint not null,
  ongoing_balance_cents bigint not null,
  added_cents bigint not null,
  constraint wallet_days_pkey primary key (organization_id, wallet_id, day)
);
comment on table wallet_days is
  'The last figures of a wallet on each day, in its customer''s zone; a day without a row is as the one before.';
comment on column wallet_days.added_cents is 'top-ups of the day less what was voided';
alter table wallet_days alter column organization_id set statistics 0;
create index wallet_days_day on wallet_days (day);

alter table wallets add column exhausted_on date;
comment on column wallets.exhausted_on is
  'The day on which it is used up if it goes on as in its last two weeks; null: unknown, or never.';
