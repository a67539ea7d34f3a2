-- no transaction
-- Why: the mails about an invoice, a note or a request are listed, newest first.
-- Locks: none. A failed build is dropped before it is tried again.

drop index concurrently if exists mails_of_resource;
create index concurrently mails_of_resource on mails (organization_id, resource_id, id desc)
  where resource_id is not null;
