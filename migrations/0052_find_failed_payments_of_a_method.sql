-- Why: a mandate of which two payments failed within 90 days is no longer the default; they are looked up with each.
-- Locks: payments for writes while the index is built over the few that failed.

create index payments_failed_by_method on payments (organization_id, payment_method_id)
  where payment_status = 'failed' and payment_method_id is not null;
