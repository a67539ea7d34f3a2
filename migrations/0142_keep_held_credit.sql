-- Why: each transaction on a wallet's holds added all open ones up, at a cost that grew with them. A sum beside each wallet
-- follows its holds in whatever statement changes them, so that no writer can forget it, and negative it cannot become.
-- Holds stop counting by the clock: what the sum holds is what counts at the instant `counted_until`. Whoever looks at a
-- later one takes what ended in between out, by an index, so that each hold is touched once for its end.
-- Locks: wallets and wallet_holds against writers, for a sum over open holds, the build of an index over them and triggers.
create table wallet_held (
  organization_id uuid not null references organizations (id),
  wallet_id uuid not null references wallets (id) on delete cascade,
  -- open holds that end after counted_until, and settled ones whose event the ongoing balance does not contain yet
  held_cents bigint not null default 0,
  counted_until timestamptz not null default '-infinity',
  primary key (organization_id, wallet_id),
  constraint wallet_held_not_negative check (held_cents >= 0)
) with (fillfactor = 50);

lock table wallets, wallet_holds in share row exclusive mode;

create function begin_wallet_held() returns trigger language plpgsql as $$
begin
  insert into wallet_held (organization_id, wallet_id) values (new.organization_id, new.id);
  return null;
end $$;
create trigger wallets_begin_held after insert on wallets for each row execute function begin_wallet_held();

-- The holds that a statement changed: the sums of their wallets follow, and access checks forget what they knew of the
-- wallets' customers. By the statement, where the trigger before looked a wallet up for each row.
create function follow_wallet_holds() returns trigger language plpgsql as $$
declare
  came wallet_holds[];
  gone wallet_holds[];
  holders uuid[];
begin
  if tg_op <> 'DELETE' then select array_agg(new_rows) into came from new_rows; end if;
  if tg_op <> 'INSERT' then select array_agg(old_rows) into gone from old_rows; end if;
  select array_agg(distinct wallet_id) into holders from unnest(came || gone);
  update wallet_held held
  set held_cents = held.held_cents
    + coalesce((select sum(amount_cents) from unnest(came) hold where hold.wallet_id = held.wallet_id
        and (awaits_refresh or status = 'open' and expires_at > held.counted_until)), 0)
    - coalesce((select sum(amount_cents) from unnest(gone) hold where hold.wallet_id = held.wallet_id
        and (awaits_refresh or status = 'open' and expires_at > held.counted_until)), 0)
  where held.wallet_id = any (holders)
    and held.organization_id in (select organization_id from unnest(came || gone));
  perform tell_access('c:' || customer_id) from wallets where id = any (holders);
  return null;
end $$;
drop trigger wallet_holds_tell_access on wallet_holds;
drop function tell_access_of_hold();
create trigger wallet_holds_follow_new after insert on wallet_holds
  referencing new table as new_rows for each statement execute function follow_wallet_holds();
create trigger wallet_holds_follow_changed after update on wallet_holds
  referencing old table as old_rows new table as new_rows for each statement execute function follow_wallet_holds();
create trigger wallet_holds_follow_dropped after delete on wallet_holds
  referencing old table as old_rows for each statement execute function follow_wallet_holds();

insert into wallet_held (organization_id, wallet_id, held_cents)
select wallet.organization_id, wallet.id, coalesce(sum(hold.amount_cents), 0)
from wallets wallet
left join wallet_holds hold on hold.wallet_id = wallet.id and (hold.status = 'open' or hold.awaits_refresh)
group by wallet.organization_id, wallet.id;

create index wallet_holds_ending on wallet_holds (organization_id, wallet_id, expires_at) where status = 'open';
drop index wallet_holds_open;
