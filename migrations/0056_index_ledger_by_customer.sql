-- The balance of a customer reads all entries of that customer, and the journal can be filtered by it.
-- Locks ledger_entries against writes while the index is built: seconds for a million entries.
create index ledger_entries_customer on ledger_entries (organization_id, customer_id) where customer_id is not null;
