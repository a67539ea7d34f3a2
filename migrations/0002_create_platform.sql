-- Why: what every write leaves behind in its own transaction: idempotency row, after-steps, logs, outgoing events.
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
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (organization_id, scope_hash)
);
create index idempotency_keys_expiry on idempotency_keys (expires_at);

-- Work that a committed command still owes: the queue carries only the id, the sweeper nudges rows whose job was lost.
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
  error text
);
create index after_steps_organization on after_steps (organization_id, due_at);
create index after_steps_enqueued on after_steps (enqueued_at) where failed_at is null;

create table activity_logs (
  id uuid not null,
  organization_id uuid not null,
  activity_type text not null,
  activity_source text not null check (activity_source in ('api', 'front', 'system')),
  activity_object jsonb,
  activity_object_changes jsonb not null default '{}',
  user_email text,
  api_key_id uuid,
  resource_id uuid not null,
  resource_type text not null,
  external_customer_id text,
  external_subscription_id text,
  logged_at timestamptz not null,
  -- real time; partitions follow it
  created_at timestamptz not null,
  primary key (id, created_at)
) partition by range (created_at);
create table activity_logs_default partition of activity_logs default;
create index activity_logs_newest on activity_logs (organization_id, logged_at desc, id desc);
create index activity_logs_customer on activity_logs (organization_id, external_customer_id);
create index activity_logs_subscription on activity_logs (organization_id, external_subscription_id);

create table api_logs (
  -- the command id, so that a redelivered job logs once; a fresh id for requests that the ingress refused
  id uuid not null,
  organization_id uuid not null,
  request_id text not null,
  api_key_id uuid not null,
  client text,
  http_method text not null,
  http_status integer not null,
  request_origin text not null,
  request_path text not null,
  request_body text,
  request_response text,
  api_version text not null default 'v1',
  logged_at timestamptz not null,
  created_at timestamptz not null,
  primary key (id, created_at)
) partition by range (created_at);
create table api_logs_default partition of api_logs default;
create index api_logs_newest on api_logs (organization_id, logged_at desc, id desc);
create index api_logs_request on api_logs (organization_id, request_id);

create table webhook_endpoints (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  webhook_url text not null,
  name text,
  signature_algo text not null default 'jwt' check (signature_algo in ('jwt', 'hmac')),
  event_types text[],
  secret text not null,
  former_secret text,
  former_secret_expires_at timestamptz,
  status text not null default 'enabled' check (status in ('enabled', 'disabled')),
  disabled_at timestamptz,
  disabled_reason text,
  failures_since timestamptz,
  consecutive_failures integer not null default 0,
  circuit_open_until timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint webhook_endpoints_url_key unique (organization_id, webhook_url)
);

-- Every event of an organization once, whether or not anybody listens; the sequencer numbers committed rows (beyond 10).
create table webhook_events (
  id uuid primary key,
  organization_id uuid not null,
  position bigserial not null,
  sequence bigint,
  webhook_type text not null,
  object_type text not null,
  object_id uuid,
  customer_id uuid,
  occurred_at timestamptz not null,
  -- text, not jsonb: the signed bytes keep the key order of platform G.4
  payload text not null,
  created_at timestamptz not null,
  constraint webhook_events_sequence_key unique (organization_id, sequence)
);
create index webhook_events_unnumbered on webhook_events (organization_id, position) where sequence is null;
create table feed_heads (organization_id uuid primary key, last bigint not null default 0);

create table webhook_deliveries (
  id uuid primary key,
  organization_id uuid not null,
  webhook_endpoint_id uuid not null references webhook_endpoints (id) on delete cascade,
  event_id uuid not null references webhook_events (id) on delete cascade,
  endpoint text not null,
  status text not null default 'pending' check (status in ('pending', 'retrying', 'succeeded', 'failed')),
  retries integer not null default 0,
  attempts_left integer,
  http_status integer,
  response text,
  next_attempt_at timestamptz,
  last_retried_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index webhook_deliveries_due on webhook_deliveries (next_attempt_at) where status in ('pending', 'retrying');
-- led by the endpoint, so that removing one finds its deliveries
create index webhook_deliveries_endpoint on webhook_deliveries (webhook_endpoint_id, organization_id, updated_at desc);
create index webhook_deliveries_event on webhook_deliveries (event_id);

-- Keys of the deployment: the RSA pair that signs webhooks, the secret that signs links.
create table deployment_keys (
  id uuid primary key,
  purpose text not null,
  public_key text,
  private_key text not null,
  created_at timestamptz not null,
  retired_at timestamptz
);
create unique index deployment_keys_current on deployment_keys (purpose) where retired_at is null;

-- One row per tick of a periodic job; whoever inserts it enqueues the job (README decision 12).
create table schedule_ticks (
  job text not null,
  tick_at timestamptz not null,
  claimed_at timestamptz not null,
  finished_at timestamptz,
  error text,
  primary key (job, tick_at)
);
create index schedule_ticks_age on schedule_ticks (tick_at);

create table test_clocks (
  organization_id uuid primary key references organizations (id),
  frozen_time timestamptz not null,
  target_time timestamptz,
  status text not null default 'ready' check (status in ('ready', 'advancing', 'failed')),
  phase jsonb,
  started_from timestamptz,
  steps_done integer not null default 0,
  advances_count integer not null default 0,
  cancel_requested boolean not null default false,
  error jsonb,
  -- the worker that advances, and the real time until which it is believed alive
  lease_token uuid,
  lease_until timestamptz,
  created_at timestamptz not null
);
-- Numbers of the timeline: a row of its own, locked last in every transaction that writes lines, so that writers which
-- share the clock's row never wait for each other in a circle. It outlives the clock.
create table test_clock_timelines (
  organization_id uuid primary key,
  last bigint not null,
  -- first line of the present or newest clock
  first bigint not null,
  -- real time; null while the clock lives
  clock_deleted_at timestamptz
);
create table test_clock_timeline (
  organization_id uuid not null,
  sequence bigint not null,
  at timestamptz not null,
  kind text not null check (kind in ('clock', 'job', 'activity', 'webhook', 'payment')),
  name text not null,
  resource_type text,
  resource_id uuid,
  external_customer_id text,
  summary jsonb not null default '{}',
  created_at timestamptz not null,
  primary key (organization_id, sequence)
);

-- Work longer than a request (beyond 0 "Runs").
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
create index runs_organization on runs (organization_id, kind, created_at desc);
create index runs_open on runs (lease_until) where status in ('pending', 'running');
