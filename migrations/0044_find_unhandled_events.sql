-- Why: a charge waits while an event about its invoice is not handled yet, and so does the report that money was taken
--   back; both look through the events of an organization that are still open.
-- Locks: inbound_events for writes while the index is built over its few open rows.

create index inbound_events_unhandled on inbound_events (organization_id, created_at) where status <> 'succeeded';
