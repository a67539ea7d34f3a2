-- Why: before an invoice or a payment request is charged, the pages on which it could be paid are looked at, those that
-- were closed lately too.
-- Locks: payment_pages for writes while the index is built over its rows.

create index payment_pages_of_payable on payment_pages (organization_id, payable_id, created_at)
  where payable_id is not null;
