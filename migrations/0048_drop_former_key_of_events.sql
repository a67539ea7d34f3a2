-- no transaction
-- Why: 0046 has built a unique key of events that begins with the transaction id. It drops that one before it is tried
-- again, and without the former key nothing could be stored meanwhile; so that one goes when 0046 is done.
-- Locks: none.

drop index concurrently if exists events_transaction_key;
