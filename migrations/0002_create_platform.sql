-- Why: what every write leaves behind in its own transaction, and what runs the deployment.
-- Locks: only new tables.

create table idempotency_keys (
  organization_id uuid not null,
  scope_hash bytea not null,
  fingerprint bytea not null,
  request_id text not null,
  http_status integer,
  -- text, not jsonb: a replayed answer is byte for byte the first one
  body text,
  headers jsonb,
  is_digest boolean not null default false,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (organization_id, scope_hash)
);
comment on table idempotency_keys is
  'Answers already given under an Idempotency-Key: a repeated request gets the first answer again.';
create index idempotency_keys_expiry on idempotency_keys (expires_at);

create table after_steps (
  id uuid primary key,
  organization_id uuid not null,
  job text not null,
  payload jsonb not null,
  -- business time: null = at once, else not before this instant of the organization's clock
  due_at timestamptz,
  -- real time
  created_at timestamptz not null,
  enqueued_at timestamptz not null,
  attempts integer not null default 0,
  failed_at timestamptz,
  error text,
  unknown_since timestamptz
);
comment on table after_steps is
  'Work that a committed command still owes. The queue carries '
  'only the id; a sweep enqueues rows again whose job was lost.';
create index after_steps_organization on after_steps (organization_id, due_at);
create index after_steps_enqueued on after_steps (enqueued_at) where failed_at is null;

create table runs (
  id uuid primary key,
  organization_id uuid not null,
  kind text not null,
  status text not null default 'pending' check (status in ('pending', 'running', 'succeeded', 'failed', 'canceled')),
  cursor jsonb,
  done bigint not null default 0,
  total bigint,
  input jsonb not null default '{}',
  result jsonb,
  error jsonb,
  attempts integer not null default 0,
  lease_until timestamptz,
  created_at timestamptz not null,
  started_at timestamptz,
  finished_at timestamptz
);
comment on table runs is 'Work longer than a request, with its progress and its result.';
create index runs_organization on runs (organization_id, kind, created_at desc);
create index runs_open on runs (lease_until) where status in ('pending', 'running');

create table schedule_ticks (
  job text not null,
  tick_at timestamptz not null,
  claimed_at timestamptz not null,
  finished_at timestamptz,
  error text,
  primary key (job, tick_at)
);
comment on table schedule_ticks is
  'One row per tick of a periodic job. Whoever inserts the row enqueues the job, so that a tick runs once.';
create index schedule_ticks_age on schedule_ticks (tick_at);

create table deployment_keys (
  id uuid primary key,
  purpose text not null,
  public_key text,
  private_key text not null,
  created_at timestamptz not null,
  retired_at timestamptz
);
comment on table deployment_keys is
  'Keys of the deployment: the RSA pair that signs webhooks '
  'and the secret that signs links. Private parts are sealed.';
create unique index deployment_keys_current on deployment_keys (purpose) where retired_at is null;
