-- no transaction
-- Why: a list of the events of one code needs no scan of the organization's events (platform D.2 "/events").
-- Locks: nothing for long; it waits for transactions under way, and writers of events go on. After a break it begins anew.
drop index concurrently if exists events_code;
create index concurrently events_code on events (organization_id, code, timestamp desc, transaction_id);
