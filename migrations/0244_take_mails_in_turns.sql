-- no transaction
-- Why: of each organization the oldest due mails are taken, at most 100, so that none waits behind another's thousands.
-- Locks: none; the index holds mails that are on their way. A failed build is dropped before it is tried again.

drop index concurrently if exists mails_due_of_organization;
create index concurrently mails_due_of_organization on mails (organization_id, next_attempt_at)
  where status = 'pending';
