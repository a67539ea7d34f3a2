-- Why: clocks that move the time of a sandbox organization.
-- Locks: only new tables.

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
  created_at timestamptz not null
);
comment on table test_clocks is 'The clock of a sandbox organization: its frozen time and the advance under way.';

create table test_clock_leases (
  organization_id uuid primary key references test_clocks (organization_id) on delete cascade,
  -- lease_token of the clock when the lease was taken
  token uuid,
  -- real time until which the worker is believed alive
  until timestamptz not null
);
comment on table test_clock_leases is
  'Which worker advances a clock, and the real time until which it is believed alive. A row '
  'of its own: on the clock''s row the heartbeat waited for every job that held the clock.';
create index test_clock_leases_until on test_clock_leases (until);

create table test_clock_timelines (
  organization_id uuid primary key,
  last bigint not null,
  -- first line of the present or newest clock
  first bigint not null,
  -- real time; null while the clock lives
  clock_deleted_at timestamptz
);
comment on table test_clock_timelines is
  'Counter of a clock''s timeline. A row of its own, locked last in every transaction that writes lines, so '
  'that writers which share the clock''s row never wait for each other in a circle. It outlives the clock.';

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
comment on table test_clock_timeline is
  'What happened while a clock advanced, in order: jobs, activities, webhooks, payments.';

-- The test clocks of several sandboxes, and that none is made meanwhile, in one statement of the storing of events.
-- A function, since what it queries is as new as the query, not as old as the lock that it waited for. The seed is
-- the one of src/platform/clock/organization-clock.ts.
create function hold_clocks(organizations uuid[])
returns table (organization_id uuid, status text, frozen_time timestamptz) language plpgsql volatile as $$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended(sorted.id::text, 5306))
  from (select id from unnest(organizations) as given (id) order by id) sorted;
  return query
    select clock.organization_id, clock.status, clock.frozen_time
    from test_clocks clock
    where clock.organization_id = any (organizations)
    order by clock.organization_id
    for share;
end
$$;
