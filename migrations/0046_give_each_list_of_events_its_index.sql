-- no transaction
-- Why: of an organization that the statistics do not know Postgres expects one row, and every index that begins with
-- the organization costs the same then: the statements of its first month end read all its events through the index of
-- a list (220 ms an invoice instead of 60), and which index wins depends on the order in which they were made. Now each
-- statement can use one index only. The indexes of lists hold the live events in words that only those lists say
-- (src/areas/usage/events/live-events.ts); the unique key begins with the transaction id, so that nothing without one
-- can use it; the index of a subscription holds live events alone, so that its lists no longer pass over retracted
-- ones, which have one of their own for what verifies a fee as it was.
-- Locks: none; about 15 s a million events. Until the new version runs, lists of events of the old one are read without
-- an index. A failed build is dropped before it is tried again, so the former unique key goes only with 0048.

drop index concurrently if exists events_newest;
create index concurrently events_newest on events (organization_id, timestamp desc, transaction_id)
  where num_nulls(deleted_at) <> 0;
drop index concurrently if exists events_newest_of_code;
create index concurrently events_newest_of_code on events (organization_id, code, timestamp desc, transaction_id)
  where num_nonnulls(deleted_at) <> 1;
drop index concurrently if exists events_in_arrival;
create index concurrently events_in_arrival on events (organization_id, id) where num_nulls(id) <> 1;
drop index concurrently if exists events_of_subscription;
create index concurrently events_of_subscription on events (organization_id, external_subscription_id, code, timestamp)
  where deleted_at is null;
drop index concurrently if exists events_retracted;
create index concurrently events_retracted on events (organization_id, external_subscription_id, code, timestamp)
  where deleted_at is not null;
drop index concurrently if exists events_transaction;
create unique index concurrently events_transaction
  on events (transaction_id, organization_id, external_subscription_id);
drop index concurrently if exists events_live_newest;
drop index concurrently if exists events_live_code;
drop index concurrently if exists events_received;
drop index concurrently if exists events_aggregation;
