-- Why: credit of wallets that is set aside before it is used (beyond 11.3).
-- Locks: none, a new table.
create table wallet_holds (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  wallet_id uuid not null references wallets (id),
  status text not null default 'open' check (status in ('open', 'settled', 'released', 'expired')),
  amount_cents bigint not null check (amount_cents > 0),
  -- what could be held when the amount was last set; a hold never takes more
  available_cents bigint not null,
  settled_amount_cents bigint,
  reference text,
  external_subscription_id text,
  event_transaction_id text,
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
create index wallet_holds_open on wallet_holds (wallet_id) where status = 'open';
create index wallet_holds_awaited on wallet_holds (wallet_id) where awaits_refresh;
create index wallet_holds_newest on wallet_holds (organization_id, wallet_id, created_at desc, id desc);
create index wallet_holds_expiring on wallet_holds (expires_at) where status = 'open';
