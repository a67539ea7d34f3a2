-- Why: a transaction id counts once for ever, so the unique key of events had to be an index of all events, which grows
--   with every one and forbids to divide the table by time. Now the keys have a table of their own: hashes instead of
--   texts, divided by organization, and kept when the event itself is gone (storing-events.md#keys). The trigger keeps
--   the keys of what a former version stores; 0084 adds those of the events that are there.
-- Locks: events, against writes, for an instant.

create table event_keys (
  organization_id uuid not null,
  -- the first 16 bytes of the SHA-256 of each text
  transaction_hash uuid not null,
  subscription_hash uuid not null,
  digest uuid not null,
  -- as first received
  event_timestamp timestamptz not null,
  event_id uuid not null,
  primary key (organization_id, transaction_hash, subscription_hash)
) partition by hash (organization_id);
comment on table event_keys is
  'Which transaction ids of a subscription are taken, by which event and payload; they outlive the events.';
comment on column event_keys.digest is 'the digest of the event, as in events.digest';

do $$
begin
  for remainder in 0..15 loop
    execute format('create table event_keys_%s partition of event_keys for values with (modulus 16, remainder %s)',
      remainder, remainder);
  end loop;
end $$;
alter table event_keys alter column organization_id set statistics 0;

create function event_hash(words text) returns uuid language sql immutable strict parallel safe as $$
  select encode(substr(sha256(convert_to(words, 'UTF8')), 1, 16), 'hex')::uuid
$$;
comment on function event_hash(text) is 'The same as src/areas/usage/events/event-key.ts.';

create function event_digest(digest bytea) returns uuid language sql immutable strict parallel safe as $$
  select rpad(encode(digest, 'hex'), 32, '0')::uuid
$$;

create function keep_event_keys() returns trigger language plpgsql as $$
begin
  insert into event_keys (organization_id, transaction_hash, subscription_hash, digest, event_timestamp, event_id)
  select organization_id, event_hash(transaction_id), event_hash(external_subscription_id), event_digest(digest),
    timestamp, id
  from new_rows
  on conflict do nothing;
  return null;
end $$;
create trigger events_keep_keys after insert on events
  referencing new table as new_rows
  for each statement execute function keep_event_keys();

create table event_keys_filling (
  last_event_id uuid not null
);
comment on table event_keys_filling is
  'Up to which event the keys of those that were stored before 0083 are kept. One row, until all are.';
insert into event_keys_filling (last_event_id)
select '00000000-0000-0000-0000-000000000000' where exists (select from events);

-- Each page is a transaction of its own, and is followed by a pause of half its time, so that those who store events
-- keep most of the disk. Who calls it again after it was ended goes on where it was.
create procedure fill_event_keys() language plpgsql as $$
declare
  page constant integer := 20000;
  first_id uuid;
  last_id uuid;
  started timestamptz;
begin
  loop
    started := clock_timestamp();
    select last_event_id into first_id from event_keys_filling for update;
    exit when not found;
    last_id := (
      select id from (select id from events where id > first_id order by id limit page) as paged
      order by id desc limit 1);
    if last_id is null then
      delete from event_keys_filling;
      commit;
      exit;
    end if;
    insert into event_keys (organization_id, transaction_hash, subscription_hash, digest, event_timestamp, event_id)
    select e.organization_id, event_hash(e.transaction_id), event_hash(e.external_subscription_id),
      event_digest(e.digest), coalesce(first.timestamp, e.timestamp), e.id
    from events e
    left join event_versions first on e.version > 1 and first.event_id = e.id and first.version = 1
    where e.id > first_id and e.id <= last_id
    on conflict do nothing;
    update event_keys_filling set last_event_id = last_id;
    commit;
    perform pg_sleep(extract(epoch from clock_timestamp() - started) / 2);
  end loop;
end $$;
comment on procedure fill_event_keys() is 'Keeps the keys of the events from before 0083; outside of a transaction.';
