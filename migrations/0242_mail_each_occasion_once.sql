-- no transaction
-- Why: an automatic mail exists once for each template, record and occasion, whatever runs twice.
-- Locks: none. A failed build is dropped before it is tried again.

drop index concurrently if exists mails_occasion_key;
create unique index concurrently mails_occasion_key on mails (organization_id, template, resource_id, occasion)
  where is_automatic and template is not null;
