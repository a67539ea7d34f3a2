-- no transaction
-- Why: pages of final documents are drawn before anybody asks for them. They stand behind those that somebody waits
--   for, also when their jobs were lost, so a document says whether it was asked for. All that were drawn until now
--   were.
-- Locks: documents for an instant (a column with a default that no row has to be written for); the index is built
--   beside the work, over the few rows that wait. A failed build is dropped before it is tried again.

alter table documents add column if not exists is_asked boolean not null default true;
comment on column documents.is_asked is
  'Whether somebody waits for it or mails it; else it was begun because its invoice or note became final.';
drop index concurrently if exists documents_waiting;
create index concurrently documents_waiting on documents (is_asked, enqueued_at)
  where content is null and given_up_at is null;
drop index concurrently if exists documents_pending;
