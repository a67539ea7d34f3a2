-- Why: the keys of events are kept by themselves since 0084, so the unique index of texts among the indexes of events,
--   and the trigger that keeps the keys of what a former version stores, only cost time. A former version cannot store
--   events without that index, so where there are events, housekeeping drops both an hour later or more.
-- Locks: events, for an instant where it is empty; else nothing.

create table event_key_moves (
  prepared_at timestamptz not null,
  finished_at timestamptz
);
comment on table event_key_moves is
  'Since when events can be stored without their former key, and when it was dropped. One row.';

create procedure drop_former_key_of_events() language plpgsql as $$
begin
  drop trigger if exists events_keep_keys on events;
  drop index if exists events_transaction;
end $$;
comment on procedure drop_former_key_of_events() is 'When no process of a version before 0083 stores events any more.';

do $$
begin
  if exists (select from event_keys_filling) then
    raise exception 'the keys of stored events are not filled to the end: migration 0084';
  end if;
  if exists (select from events) then
    insert into event_key_moves (prepared_at) values (clock_timestamp());
  else
    call drop_former_key_of_events();
    insert into event_key_moves (prepared_at, finished_at) values (clock_timestamp(), clock_timestamp());
  end if;
  drop procedure fill_event_keys();
  drop table event_keys_filling;
  comment on table events is 'Usage events as received; event_keys has each transaction_id once per subscription.';
end $$;
