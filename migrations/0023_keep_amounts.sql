-- Why: dynamic charges are read from rollups, so buckets and days hold the sum of the events' own amounts (of the numeric
-- ones); shapes tell whether theirs do. Charged metrics that sum up, and those of unique counts and latest values that have no
-- shape yet, get one in building; until it is live, dynamic charges and the latter are scanned.
-- Locks: the rollup tables and usage_shapes for an instant, and writers of events until the migration is committed, so that
-- they find the shapes in building: no longer than the few rows take.
alter table usage_buckets add column amount numeric not null default 0;
alter table usage_days add column amount numeric not null default 0;
alter table usage_shapes add column keeps_amounts boolean not null default false;
alter table usage_shapes alter column keeps_amounts set default true;

-- The lock of src/resources/usage-shapes/lock.ts.
select pg_advisory_xact_lock(hashtextextended(id::text, 5301)) from (select id from organizations order by id) as locked;

with live_charge as (
  select c.organization_id, c.id, c.billable_metric_id, c.properties, c.accepts_target_wallet
  from charges c
  join plans p on p.organization_id = c.organization_id and p.id = c.plan_id and p.deleted_at is null
  where c.deleted_at is null
), rebuilt as (
  select m.organization_id, m.id, m.code, m.aggregation_type, m.field_name
  from billable_metrics m
  where m.deleted_at is null
    and not exists (
      select from usage_shapes shape
      where shape.organization_id = m.organization_id and shape.billable_metric_id = m.id and shape.state = 'building')
    and exists (select from live_charge c where c.organization_id = m.organization_id and c.billable_metric_id = m.id)
    and (
      m.aggregation_type = 'sum_agg'
      or m.aggregation_type in ('unique_count_agg', 'latest_agg') and not exists (
        select from usage_shapes shape
        where shape.organization_id = m.organization_id and shape.billable_metric_id = m.id and shape.state = 'live'))
), live_filter as (
  select c.organization_id, c.billable_metric_id, f."values", f.properties
  from live_charge c
  join charge_filters f on f.organization_id = c.organization_id and f.charge_id = c.id and f.deleted_at is null
), priced as (
  select organization_id, billable_metric_id, properties from live_charge
  union all
  select organization_id, billable_metric_id, properties from live_filter
), name as (
  select organization_id, billable_metric_id, jsonb_object_keys("values") as name from live_filter
  union
  select organization_id, billable_metric_id, jsonb_array_elements_text(
    coalesce(nullif(properties -> 'pricing_group_keys', 'null'), nullif(properties -> 'grouped_by', 'null'), '[]'))
  from priced
  union
  select organization_id, billable_metric_id, jsonb_array_elements(
    coalesce(nullif(properties -> 'presentation_group_keys', 'null'), '[]')) ->> 'value'
  from priced
  union
  select organization_id, billable_metric_id, 'target_wallet_code' from live_charge where accepts_target_wallet
)
insert into usage_shapes (id, organization_id, billable_metric_id, code, aggregation_type, field_name, property_names, state, created_at)
select gen_random_uuid(), organization_id, id, code, aggregation_type, field_name,
  coalesce((
    select array_agg(name.name order by name.name collate "C") from name
    where name.organization_id = rebuilt.organization_id and name.billable_metric_id = rebuilt.id and name.name is not null
  ), '{}'), 'building', now()
from rebuilt;

update organizations set shapes_version = shapes_version + 1
where id in (select organization_id from usage_shapes where state = 'building');
