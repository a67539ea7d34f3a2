-- Why: the page of a customer lists its receipts, newest first.
-- Locks: payment_receipts against writes while the index is built: some seconds for a million rows.
create index payment_receipts_customer on payment_receipts (organization_id, customer_id, created_at desc, id desc);
