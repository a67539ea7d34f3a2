-- Why: a replica whose replication has broken still answers, with what it knew. The ingress writes this row each second
--   while READ_DATABASE_URL is set, and leaves a replica out whose copy of it is old.
-- Locks: nothing; a new table.

create table replication_heartbeats (
  id boolean constraint replication_heartbeats_pkey primary key default true,
  beaten_at timestamptz not null,
  constraint replication_heartbeats_id_check check (id)
);
comment on table replication_heartbeats is
  'One row: when the primary was last alive, by its own clock. Written once a second while there are read replicas, '
  'which show by their copy how far behind they are.';
