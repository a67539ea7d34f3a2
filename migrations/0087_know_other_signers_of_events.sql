-- Why: a connection that was deleted and made again with the same secret shares its address, and for events about
--   payments of the former one the new one took them and found nothing. Now an event keeps who else signs as its sender
--   does, and their payments are found.
-- Locks: inbound_events for an instant; nothing is written to its rows.

alter table inbound_events add column also_signed_by uuid[];
comment on column inbound_events.also_signed_by is
  'Other connections of its address whose secret signs it; null: none.';
