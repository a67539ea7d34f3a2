-- no transaction
-- Why: a tick reads what is due page by page, in the order of organizations, days and records. With the order in an
--   index a page costs the same however many are due: by the indexes of days alone each page sorted all that fall due
--   at one midnight. Those stay: processes of the former version read by them.
-- Locks: nothing; the indexes are built beside writes. An interrupted run is repeated whole.

drop index concurrently if exists subscriptions_due_in_turn;
create index concurrently subscriptions_due_in_turn on subscriptions (organization_id, next_billing_at, customer_id, id)
  where status = 'active';
drop index concurrently if exists invoices_drafts_in_turn;
create index concurrently invoices_drafts_in_turn
  on invoices (organization_id, expected_finalization_date, created_at, id) where status = 'draft';
drop index concurrently if exists invoices_due_in_turn;
create index concurrently invoices_due_in_turn on invoices (organization_id, payment_due_date, id)
  where status = 'finalized' and payment_status <> 'succeeded' and payment_dispute_lost_at is null
    and not payment_overdue;
