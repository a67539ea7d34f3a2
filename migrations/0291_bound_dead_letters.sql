-- Why: an organization may have very many dead letters (streams.md#how-many). Pages of their list are found in an
--   index alone, whatever the filters are; the open ones of a connector are counted, with what they keep, and paged.
-- Locks: the table of dead letters, which is written anew, for some seconds a million rows; streams wait.

alter table ingest_dead_letters
  add column payload_bytes integer not null generated always as (octet_length(payload)) stored;
drop index ingest_dead_letters_newest;
create index ingest_dead_letters_newest on ingest_dead_letters (organization_id, failed_at desc, id desc)
  include (connector, status, error_code);
create index ingest_dead_letters_open on ingest_dead_letters (organization_id, connector, id) include (payload_bytes)
  where status = 'open';
