-- no transaction
-- Why: the ticks that start and end subscriptions, and those that give up waiting for a first payment, read what is due
--   page by page, in the order of organizations, days and records. With the order in an index a page costs the same
--   however many are due at one midnight. The indexes of days alone stay: with little due they are shorter to read.
-- Locks: nothing; the indexes are built beside writes. An interrupted run is repeated whole.

drop index concurrently if exists subscriptions_pending_in_turn;
create index concurrently subscriptions_pending_in_turn on subscriptions (organization_id, subscription_at, id)
  where status = 'pending' and previous_subscription_id is null;
drop index concurrently if exists subscriptions_ending_in_turn;
create index concurrently subscriptions_ending_in_turn on subscriptions (organization_id, ending_at, id)
  where status = 'active' and ending_at is not null;
drop index concurrently if exists subscription_activation_rules_expiring_in_turn;
create index concurrently subscription_activation_rules_expiring_in_turn
  on subscription_activation_rules (organization_id, expires_at, subscription_id) where status = 'pending';
