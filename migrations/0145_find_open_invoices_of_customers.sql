-- no transaction
-- Why: what many customers owe is summed over their open invoices; without this index all invoices that these customers
--   ever had were read. It holds open invoices alone, which are few beside the paid ones.
-- Locks: none; about 1 s a million rows. A failed build is dropped before it is tried again.

drop index concurrently if exists invoices_open_of_customer;
create index concurrently invoices_open_of_customer on invoices (organization_id, customer_id)
  where status = 'finalized' and payment_status <> 'succeeded';
