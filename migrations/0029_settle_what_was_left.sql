-- Why: what a correction or a policy leaves unbilled, or does not give back, is settled as left and never taken up by
-- another correction; the policy for late events is the one that held when an event came, whatever followed; and the
-- job for late events reads the newest events of one organization, not those of all.
-- Locks: correction_adjustments, organizations and plans while their rows are read; writers of events while their
-- index is built, about 2 s a million of them.

alter table correction_adjustments add column left_amount_cents bigint not null default 0;
comment on column correction_adjustments.left_amount_cents is
  'What of the difference its policy leaves: above 0 it is not billed, below 0 not given back. A correction of the '
  'same events that undoes what was left has the opposite amount.';

-- What is open of an item after its last correction was left by the policy of that correction, if that leaves anything.
update correction_adjustments adjustment
set left_amount_cents = adjustment.delta_amount_cents + adjustment.uncreditable_amount_cents
  - adjustment.settled_amount_cents
from (
  select distinct on (row.organization_id, row.invoice_id, case when row.invoice_id is null then row.fee_id end,
      row.subscription_id, row.kind, row.charge_id, row.charge_filter_id, row.grouped_by)
    row.id, row.booked_as, correction.policy
  from correction_adjustments row
  join event_corrections correction on correction.id = row.correction_id and not correction.dry_run
  where row.delta_amount_cents is not null and (row.invoice_id is not null or row.fee_id is not null)
  order by row.organization_id, row.invoice_id, case when row.invoice_id is null then row.fee_id end,
    row.subscription_id, row.kind, row.charge_id, row.charge_filter_id, row.grouped_by, row.created_at desc,
    row.id desc
) newest
where newest.id = adjustment.id and newest.booked_as = 'recorded' and newest.policy in ('ignore', 'credit_note');

alter table taken_late_events add column correction_id uuid references event_corrections (id) deferrable;
comment on column taken_late_events.correction_id is
  'The correction of late events that settled it; null where another correction took it in, or nothing was settled.';
create index taken_late_events_correction on taken_late_events (organization_id, correction_id)
  where correction_id is not null;

create table late_event_policies (
  organization_id uuid not null references organizations (id) deferrable,
  -- null: the organization's own, for plans that have none
  plan_id uuid references plans (id) deferrable,
  -- ids of events grow with time
  from_id uuid not null,
  policy text check (policy in ('next_invoice', 'debit_invoice', 'credit_note', 'ignore')),
  constraint late_event_policies_key unique nulls not distinct (organization_id, plan_id, from_id)
);
comment on table late_event_policies is
  'Policies for late events: each holds for events with greater ids than from_id, up to the next one of the same plan '
  'or organization. Null: from then on there is none. An override has that of its plan.';

insert into late_event_policies (organization_id, plan_id, from_id, policy)
select id, null, coalesce(late_events_after, id), usage_policies ->> 'late_events'
from organizations where usage_policies ->> 'late_events' is not null;
insert into late_event_policies (organization_id, plan_id, from_id, policy)
select organization_id, id, coalesce(late_events_after, id), usage_policies ->> 'late_events'
from plans where usage_policies ->> 'late_events' is not null and parent_id is null;

alter table organizations drop column late_events_after;
alter table plans drop column late_events_after;

-- An override has the policies of its plan: a copy would stay when those of the plan change.
update plans set usage_policies = null where parent_id is not null and usage_policies is not null;
alter table plans add constraint plans_policies_of_plan check (parent_id is null or usage_policies is null);

create index events_received on events (organization_id, id);
