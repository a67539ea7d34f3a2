-- Why: the usage of an invoice that waits for its taxes is counted before it waits, not when it becomes final. What
-- came in between was neither on the invoice nor late for it, and so was never billed.
-- Locks: invoices for an instant (the column has no default), then those that wait at this moment.

alter table invoices add column usage_counted_at timestamptz;
comment on column invoices.usage_counted_at is
  'When its usage was counted for the last time. Null of invoices without usage, and of those from before 0037 that did '
  'not wait then: counted when it became final.';

update invoices invoice set usage_counted_at = (
  select max(stored.created_at) from fees fee
  join fee_inputs stored on stored.organization_id = fee.organization_id and stored.fee_id = fee.id
  where fee.organization_id = invoice.organization_id and fee.invoice_id = invoice.id)
where status in ('pending', 'failed', 'open');
