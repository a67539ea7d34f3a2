-- Why: a run of a periodic job held a lock of its database session. Behind a pooler that lends a connection for one
--   transaction, the lock stays with a connection that others use, so that every later tick was skipped; of a host
--   that vanished it stays until the network notices, up to two hours; and two schemas of one database skipped each
--   other's ticks. A lease is a row that ends by itself.
-- Locks: nothing; a new table.

create table periodic_leases (
  schema_key text not null,
  job text not null,
  holder uuid,
  until timestamptz not null,
  tick_at timestamptz,
  place jsonb,
  constraint periodic_leases_pkey primary key (schema_key, job)
);
comment on table periodic_leases is
  'Who works on a periodic job, one row a job and schema. By the clock of Postgres; a lease past its end may be taken.';
comment on column periodic_leases.holder is 'Null: nobody works at this moment.';
comment on column periodic_leases.tick_at is
  'The tick that has begun and not ended: past `until` its holder is dead, and another process goes on.';
comment on column periodic_leases.place is
  'How far the tick has handed out what is due; the next holder goes on from there. Null: it begins.';
