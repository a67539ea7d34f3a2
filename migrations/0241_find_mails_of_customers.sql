-- no transaction
-- Why: the mails of a customer are listed, newest first, among all mails of the organization until now.
-- Locks: none. A failed build is dropped before it is tried again.

drop index concurrently if exists mails_of_customer;
create index concurrently mails_of_customer on mails (organization_id, customer_id, id desc)
  where customer_id is not null;
