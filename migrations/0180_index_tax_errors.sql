-- no transaction
-- Why: the invoices whose taxes an engine could not compute are looked for by their customer whenever wallets are
-- computed or a customer is read, among all invoices of the customer until now.
-- Locks: none; the index holds the few invoices that failed. A failed build is dropped before it is tried again.

drop index concurrently if exists invoices_with_tax_errors;
create index concurrently invoices_with_tax_errors on invoices (organization_id, customer_id)
  where status = 'failed' and tax_status = 'failed';
