-- no transaction
-- Why: what a person should look at is counted each half minute of every open console. Each index holds the few records
--   of one kind, so that counting none of them reads nothing, whatever the organization holds beside.
-- Locks: none; about 1 s a million rows. A failed build is dropped before it is tried again.

drop index concurrently if exists payments_failed;
create index concurrently payments_failed on payments (organization_id, created_at) where payment_status = 'failed';
drop index concurrently if exists mails_not_sent;
create index concurrently mails_not_sent on mails (organization_id, status, created_at)
  where status in ('failed', 'unsent');
drop index concurrently if exists wallet_transactions_failed;
create index concurrently wallet_transactions_failed on wallet_transactions (organization_id, failed_at)
  where status = 'failed';
drop index concurrently if exists provider_drifts_open;
create index concurrently provider_drifts_open on provider_drifts (organization_id) where status = 'open';
drop index concurrently if exists e_documents_failed;
create index concurrently e_documents_failed on e_documents (organization_id) where status = 'failed';
drop index concurrently if exists order_forms_waiting;
create index concurrently order_forms_waiting on order_forms (organization_id) where status = 'generated';
drop index concurrently if exists unmatched_totals_open;
create index concurrently unmatched_totals_open on unmatched_totals (organization_id) where count > 0;
