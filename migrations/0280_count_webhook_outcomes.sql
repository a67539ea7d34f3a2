-- Why: how well an endpoint answers is read from sums by hour, never from its deliveries (webhooks.md#health).
-- Locks: none; a new table.

create table webhook_hours (
  organization_id uuid not null constraint webhook_hours_organization_id_fkey references organizations deferrable,
  -- without a reference: whoever writes an outcome holds the delivery, which ends with its endpoint
  webhook_endpoint_id uuid not null,
  -- real time
  hour timestamptz not null,
  lane smallint not null,
  succeeded integer not null,
  failed integer not null,
  latency integer[] not null,
  constraint webhook_hours_pkey primary key (organization_id, webhook_endpoint_id, hour, lane)
);
comment on table webhook_hours is 'How deliveries to an endpoint ended and how long its answers took, by hour.';
comment on column webhook_hours.lane is '0 to 7: processes that write at the same time do not wait for one row';
comment on column webhook_hours.succeeded is 'deliveries that ended acknowledged';
comment on column webhook_hours.failed is 'deliveries that ended after their last attempt';
comment on column webhook_hours.latency is 'attempts by class: the first up to 5 ms, each further one up to twice as long, the 16th open';
alter table webhook_hours alter column organization_id set statistics 0;
create index webhook_hours_hour on webhook_hours (hour);
