-- Why: an event of a provider may be lost, and people refund in its dashboard. A run lists what the provider holds,
--   compares it with ours, and keeps each difference (a drift) until it is repaired, resolved, or gone.
-- Locks: payment_providers for an instant, customers for writes while its index is built; the new tables are empty.

alter table payment_providers add column reconciled_at timestamptz;
comment on column payment_providers.reconciled_at is 'When a run has last compared all that the provider holds with ours.';

alter table payment_providers add column methods_compared_to uuid;
comment on column payment_providers.methods_compared_to is
  'The customer whose methods a run has compared last; the next run goes on after it. Null: from the first one.';

create index customers_linked on customers (organization_id, payment_provider_id, id)
  where provider_customer_id is not null and deleted_at is null;

create table provider_reconciliations (
  id uuid primary key,
  organization_id uuid not null references organizations (id) deferrable,
  payment_provider_id uuid references payment_providers (id) deferrable,
  status text not null check (status in ('pending', 'running', 'succeeded', 'failed')),
  from_at timestamptz not null,
  to_at timestamptz,
  cursor jsonb,
  counts jsonb not null,
  error jsonb,
  looked_at timestamptz,
  created_at timestamptz not null,
  started_at timestamptz,
  finished_at timestamptz,
  updated_at timestamptz not null
);
comment on table provider_reconciliations is 'Runs that compare payments, refunds and disputes with those of providers.';
comment on column provider_reconciliations.payment_provider_id is 'Null: all connections, one after the other.';
comment on column provider_reconciliations.cursor is 'What is compared next, where a worker goes on. Null: nothing yet.';
comment on column provider_reconciliations.looked_at is 'When a sweep last put its job into the queue again.';
create unique index provider_reconciliations_running_key on provider_reconciliations (organization_id)
  where status = 'running';
create index provider_reconciliations_newest on provider_reconciliations (organization_id, created_at desc, id desc);
create index provider_reconciliations_open on provider_reconciliations (organization_id, looked_at nulls first)
  where status in ('pending', 'running');

create table provider_objects_seen (
  organization_id uuid not null,
  run_id uuid not null references provider_reconciliations (id) on delete cascade deferrable,
  object_id text not null,
  primary key (run_id, object_id)
);
comment on table provider_objects_seen is
  'Objects of the connection that a run works on which the provider has listed and which are ours; emptied with it.';

create table provider_drifts (
  id uuid primary key,
  organization_id uuid not null references organizations (id) deferrable,
  connection_id uuid not null references payment_providers (id) deferrable,
  kind text not null,
  severity text not null check (severity in ('warning', 'error')),
  status text not null check (status in ('open', 'repaired', 'resolved', 'vanished')),
  provider_object_id text not null,
  payment_id uuid references payments (id) deferrable,
  customer_id uuid references customers (id) deferrable,
  ours jsonb,
  theirs jsonb,
  resolution jsonb,
  run_id uuid,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  closed_at timestamptz,
  constraint provider_drifts_closed check ((status = 'open') = (closed_at is null))
);
comment on table provider_drifts is 'Differences between our records and those of a provider.';
comment on column provider_drifts.provider_object_id is 'The provider''s id of what differs, or ours of what only we have.';
comment on column provider_drifts.resolution is 'How it ended: action, note, who.';
comment on column provider_drifts.run_id is 'The run that has seen it last. Null: it was seen by an event.';
create unique index provider_drifts_open_key on provider_drifts (connection_id, kind, provider_object_id)
  where status = 'open';
create index provider_drifts_closed_of_object on provider_drifts (connection_id, kind, provider_object_id, closed_at)
  where status <> 'open';
create index provider_drifts_newest on provider_drifts (organization_id, first_seen_at desc, id desc);
