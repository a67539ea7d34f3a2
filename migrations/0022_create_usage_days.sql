-- Why: usage of a shape with many groups is read by full days instead of hours (performance-design 5.4 "day level").
-- Locks: usage_shapes for an instant; usage_days is new. Shapes that are live keep reading hours until they are built again.
alter table usage_shapes add column keeps_days boolean not null default false;

-- Sums of the buckets of one UTC day, of shapes that keep days; the greatest and last values stay with the hours.
create table usage_days (
  organization_id uuid not null,
  external_subscription_id text not null,
  shape_id uuid not null,
  day timestamptz not null,
  group_hash bytea not null,
  events_count bigint not null,
  valid_count bigint not null,
  sum numeric not null,
  -- sum of value × seconds since the day began, of weighted sums
  moment numeric not null,
  primary key (organization_id, external_subscription_id, shape_id, day, group_hash)
) with (fillfactor = 70);
