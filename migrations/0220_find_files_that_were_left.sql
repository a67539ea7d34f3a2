-- Why: files that were removed or rewritten in the middle of their reading are looked for each minute, among very many
--   that have ended.
-- Locks: writes to ingest_objects wait, about 0.3 s a million rows.

create index ingest_objects_left on ingest_objects (organization_id, connector, started_at) where status = 'reading';
