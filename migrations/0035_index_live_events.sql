-- no transaction
-- Why: the lists of events read the newest ones of an organization or of a code in the order of an index, and passed
-- over each one that was retracted: after a million newest ones were retracted, over a million a page. The same indexes
-- of the live events alone have the same size less what was retracted, and a retraction writes less, since the new
-- version of its row has no entry in them.
-- Locks: none; about 4 s a million events. A failed build is dropped before it is tried again.

drop index concurrently if exists events_live_newest;
create index concurrently events_live_newest on events (organization_id, timestamp desc, transaction_id)
  where deleted_at is null;
drop index concurrently if exists events_live_code;
create index concurrently events_live_code on events (organization_id, code, timestamp desc, transaction_id)
  where deleted_at is null;
drop index concurrently if exists events_newest;
drop index concurrently if exists events_code;
