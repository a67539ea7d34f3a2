-- Why: a policy for late events bills what comes late from then on, not what came late before it was switched on.
-- Locks: organizations and plans for an instant each; no column has a default, so nothing is rewritten.

alter table organizations add column late_events_after uuid;
comment on column organizations.late_events_after is
  'Ids up to it are of events that came before the policy for late events was switched on. Null: it never was.';
alter table plans add column late_events_after uuid;
comment on column plans.late_events_after is
  'Ids up to it are of events that came before late events of its subscriptions were billed. Null: they always were.';

-- Policies that are on already go on from where they were looked at, else from an hour ago and what a tick adds.
create temporary view an_hour_ago as
  select (substr(made.ms, 1, 8) || '-' || substr(made.ms, 9, 4) || '-7000-8000-000000000000')::uuid as id
  from (select lpad(to_hex(((extract(epoch from clock_timestamp()) - 3900) * 1000)::bigint), 12, '0') as ms) made;
update organizations organization set late_events_after = coalesce(
    (select seen_id from late_event_cursors seen where seen.organization_id = organization.id),
    (select id from an_hour_ago))
where coalesce(usage_policies ->> 'late_events', 'ignore') <> 'ignore';
update plans plan set late_events_after = coalesce(
    (select seen_id from late_event_cursors seen where seen.organization_id = plan.organization_id),
    (select id from an_hour_ago))
where coalesce(usage_policies ->> 'late_events', 'ignore') <> 'ignore';
drop view an_hour_ago;
