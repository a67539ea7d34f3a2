-- Why: the timeline of a customer merges the newest rows of four tables; each is read from its end, a page at a time,
--   whatever else the customer has. Partitions of the log get the index with their table.
-- Locks: writes to activity_logs, webhook_events and daily_usages wait, about 1 s a million rows.

create index activity_logs_of_customer on activity_logs
  (organization_id, external_customer_id, logged_at desc, id desc);
create index webhook_events_of_customer on webhook_events (organization_id, customer_id, occurred_at desc, id desc)
  where customer_id is not null;
create index daily_usages_of_customer on daily_usages (organization_id, customer_id, usage_date desc, id desc);
