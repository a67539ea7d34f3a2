-- Why: a correction moves what it corrects. Events that came after their invoice was final, and that nothing has billed, are
-- left out when it is priced once more; those that a correction has taken in are remembered here.
-- Locks: reads invoices, corrections and events; correction_adjustments exclusively for an instant (new column).
create table taken_late_events (
  organization_id uuid not null,
  event_id uuid not null,
  taken_at timestamptz not null,
  primary key (organization_id, event_id)
);

-- Late events on which an adjustment did not look.
alter table correction_adjustments add column late_events_left_out bigint not null default 0;

-- What corrections have priced so far counted every event that was there.
insert into taken_late_events (organization_id, event_id, taken_at)
select e.organization_id, e.id, min(correction.created_at)
from correction_periods period
join event_corrections correction on correction.organization_id = period.organization_id
  and correction.id = period.correction_id and not correction.dry_run
join invoices invoice on invoice.organization_id = period.organization_id and invoice.id = period.invoice_id
join charges charge on charge.organization_id = period.organization_id and charge.id = period.charge_id
join billable_metrics metric on metric.organization_id = charge.organization_id and metric.id = charge.billable_metric_id
join subscriptions subscription on subscription.organization_id = period.organization_id
  and subscription.id = period.subscription_id
join events e on e.organization_id = period.organization_id and e.external_subscription_id = subscription.external_id
  and e.code = metric.code and e.timestamp < period.charges_to_datetime
  and (metric.recurring or e.timestamp >= period.charges_from_datetime)
  and e.created_at >= coalesce(invoice.finalized_at, invoice.updated_at) and e.created_at <= correction.created_at
where period.settled_at is not null
group by e.organization_id, e.id;
