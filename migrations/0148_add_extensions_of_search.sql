-- Why: a text within names of customers is found by an index of its trigrams (pg_trgm) that begins with the
--   organization (btree_gin). Both extensions come with Postgres and are trusted: whoever owns the database may add
--   them. Where they are missing or may not be added, this file stops and Postgres names the extension.
-- Locks: nothing.

create extension if not exists pg_trgm;
create extension if not exists btree_gin;
