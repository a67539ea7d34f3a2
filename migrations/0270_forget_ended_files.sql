-- Why: what became of a file of a stream is forgotten once the file is no longer there; until then it must be known, or
--   the file would be read again.
-- Locks: writes to ingest_objects wait, about 0.3 s a million rows.

alter table ingest_objects add column look_at timestamptz not null default '-infinity';
comment on column ingest_objects.look_at is 'when it is next asked whether a file that has ended is still there';
create index ingest_objects_ended on ingest_objects (organization_id, connector, bucket, look_at)
  where status <> 'reading';
