-- no transaction
-- Why: a page of one customer's payment requests read those of all customers to find them. Now it has the index of its
--   condition and its order.
-- Locks: none; about 2 s a million rows. A failed build is dropped before it is tried again.

drop index concurrently if exists payment_requests_customer;
create index concurrently payment_requests_customer on payment_requests
  (organization_id, customer_id, created_at desc, id desc);
