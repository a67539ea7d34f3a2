-- no transaction
-- Why: a page of 20 subscriptions sorted all of the organization, and one of a customer's fees or payments read those
--   of all customers to find them; a page of events of a deleted metric read the charges of all organizations. Now each
--   has the index of its conditions and its order.
-- Locks: none; about 2 s a million rows. A failed build is dropped before it is tried again.

drop index concurrently if exists subscriptions_newest;
create index concurrently subscriptions_newest on subscriptions
  (organization_id, subscription_at desc nulls last, created_at desc, id desc);
drop index concurrently if exists fees_customer;
create index concurrently fees_customer on fees (organization_id, customer_id, created_at, id);
drop index concurrently if exists payments_customer;
create index concurrently payments_customer on payments (organization_id, customer_id, created_at desc, id desc);
drop index concurrently if exists charges_deleted;
create index concurrently charges_deleted on charges (organization_id, billable_metric_id) where deleted_at is not null;
