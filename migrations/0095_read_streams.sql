-- Why: producers who have their events in a stream or in files point it here (streams.md). What was read is kept in the
--   transaction that stores the events, so that nothing is lost and nothing counts twice; what cannot become an event
--   is kept as a dead letter.
-- Locks: nothing; new tables.

create table ingest_connectors (
  organization_id uuid not null,
  code text not null,
  kind text not null,
  created_at timestamptz not null,
  paused_at timestamptz,
  constraint ingest_connectors_pkey primary key (organization_id, code)
);
comment on table ingest_connectors is
  'Connectors that a process has ever started; what they read is in the file of the deployment.';
comment on column ingest_connectors.paused_at is 'since when nothing is read, because somebody asked for it';
alter table ingest_connectors alter column organization_id set statistics 0;

create table ingest_readers (
  organization_id uuid not null,
  connector text not null,
  id uuid not null,
  status text not null constraint ingest_readers_status check (status in ('starting', 'running', 'paused', 'retrying')),
  error text,
  lag_seconds numeric,
  lag_messages bigint,
  said_at timestamptz not null,
  constraint ingest_readers_pkey primary key (organization_id, connector, id)
);
comment on table ingest_readers is
  'Processes that read for a connector, as they last said of themselves, by the clock of Postgres.';
alter table ingest_readers alter column organization_id set statistics 0;

create table ingest_checkpoints (
  organization_id uuid not null,
  connector text not null,
  key text not null,
  rank numeric not null,
  value jsonb not null,
  received bigint not null,
  stored bigint not null,
  replayed bigint not null,
  dead bigint not null,
  updated_at timestamptz not null,
  constraint ingest_checkpoints_pkey primary key (organization_id, connector, key)
);
comment on table ingest_checkpoints is
  'How far a connector has read a partition, shard or object, and what became of it: '
  'written with the events.';
comment on column ingest_checkpoints.rank is 'grows along the key; a checkpoint never falls back';
comment on column ingest_checkpoints.received is 'messages; the other counts are of events and dead letters';
alter table ingest_checkpoints alter column organization_id set statistics 0;

create table ingest_leases (
  organization_id uuid not null,
  connector text not null,
  key text not null,
  owner uuid not null,
  expires_at timestamptz not null,
  constraint ingest_leases_pkey primary key (organization_id, connector, key)
);
comment on table ingest_leases is 'Which process reads a shard or an object, by the clock of Postgres.';
alter table ingest_leases alter column organization_id set statistics 0;

create table ingest_objects (
  organization_id uuid not null,
  connector text not null,
  bucket text not null,
  key text not null,
  etag text not null,
  size bigint not null,
  status text not null constraint ingest_objects_status
    check (status in ('reading', 'done', 'done_with_errors', 'failed')),
  byte_offset bigint not null,
  line bigint not null,
  stored bigint not null,
  replayed bigint not null,
  dead bigint not null,
  attempts integer not null,
  next_attempt_at timestamptz,
  started_at timestamptz not null,
  finished_at timestamptz,
  constraint ingest_objects_pkey primary key (organization_id, connector, bucket, key, etag)
);
comment on table ingest_objects is 'Files of a bucket and how far they were read; a file that was rewritten is another.';
alter table ingest_objects alter column organization_id set statistics 0;

create table ingest_dead_letters (
  organization_id uuid not null,
  id uuid not null,
  connector text not null,
  position text not null,
  part integer not null,
  payload bytea not null,
  payload_digest bytea not null,
  is_cut boolean not null,
  headers jsonb not null,
  source_time timestamptz not null,
  error_code text not null,
  error_message text not null,
  attempts integer not null,
  status text not null constraint ingest_dead_letters_status check (status in ('open', 'retried', 'discarded')),
  failed_at timestamptz not null,
  resolved_at timestamptz,
  constraint ingest_dead_letters_pkey primary key (organization_id, id),
  constraint ingest_dead_letters_once unique (organization_id, connector, position, part, payload_digest)
);
comment on table ingest_dead_letters is 'Messages, and events of messages, that could not become events; kept 30 days.';
comment on column ingest_dead_letters.part is 'which event of the message';
comment on column ingest_dead_letters.is_cut is 'only the first 256 KiB are kept';
create index ingest_dead_letters_newest on ingest_dead_letters (organization_id, failed_at desc, id desc);
create index ingest_dead_letters_old on ingest_dead_letters (failed_at);
alter table ingest_dead_letters alter column organization_id set statistics 0;
