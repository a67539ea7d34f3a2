-- Why: deliveries are found by their endpoint, so that what waits behind a dead one costs nothing while it waits: the
-- sweeper steps from one endpoint with waiting deliveries to the next, and a walk takes the oldest of one of them.
-- Locks: builds an index over waiting deliveries only, which keeps writers of webhook_deliveries out meanwhile.
create index webhook_deliveries_waiting on webhook_deliveries (webhook_endpoint_id, next_attempt_at, id)
  where status in ('pending', 'retrying');
drop index webhook_deliveries_due;
