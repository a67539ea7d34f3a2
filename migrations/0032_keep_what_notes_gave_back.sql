-- Why: of corrections made before it 0029 stored wrongly what was left and which one settled late events: the whole
-- amount stood with the newest correction of an item, and no late event named its correction. And what notes gave
-- back for an adjustment is kept, so that usage that moved within an invoice is given back by the fee that billed it,
-- and what a voided invoice gave back with its payments is not counted twice.
-- Locks: correction_adjustments and taken_late_events while their rows are read and keys are built; writers of invoices
-- while the index of regenerated ones is built.

-- Before 0029 the difference of a correction was that of its item altogether, with all that was open: a correction that
-- billed or gave back took that up. So where the newest correction of an item left something, those since the last one
-- that left nothing have left it in the steps by which it grew, and each has its own difference from now on.
with row as (
  select adjustment.id, adjustment.left_amount_cents, adjustment.delta_amount_cents
      + adjustment.uncreditable_amount_cents - adjustment.settled_amount_cents as open_cents,
    adjustment.settled_amount_cents - adjustment.uncreditable_amount_cents as closed_cents,
    jsonb_build_array(adjustment.organization_id, adjustment.invoice_id,
      case when adjustment.invoice_id is null then adjustment.fee_id end, adjustment.subscription_id, adjustment.kind,
      adjustment.charge_id, adjustment.charge_filter_id, adjustment.grouped_by) as item,
    row_number() over (order by adjustment.created_at, adjustment.id) as place
  from correction_adjustments adjustment
  join event_corrections correction on correction.id = adjustment.correction_id and not correction.dry_run
  where adjustment.delta_amount_cents is not null
    and (adjustment.invoice_id is not null or adjustment.fee_id is not null)
), last_unsaid as (
  select item, max(place) as place from row where open_cents <> left_amount_cents group by item
), newest as (
  select row.item, min(row.place) as place
  from row join last_unsaid on last_unsaid.item = row.item and row.place > last_unsaid.place
  group by row.item
), former as (
  select row.id, row.item, row.place, row.open_cents, row.closed_cents,
    lag(row.open_cents, 1, 0::bigint) over (partition by row.item order by row.place) as open_before
  from row join newest on newest.item = row.item and row.place <= newest.place
), since as (
  select item, max(place) filter (where open_cents = 0) as place from former group by item
)
update correction_adjustments adjustment
set left_amount_cents = own.left_cents, delta_amount_cents = own.delta_cents,
  old_amount_cents = adjustment.new_amount_cents - own.delta_cents,
  units = case when own.delta_cents = adjustment.delta_amount_cents then adjustment.units
    else coalesce(round(adjustment.units * own.delta_cents / nullif(adjustment.delta_amount_cents, 0), 12), 0) end
from former
join since using (item)
cross join lateral (
  select case when former.place > coalesce(since.place, 0) then former.open_cents - former.open_before else 0 end
    as left_cents
) kept
cross join lateral (
  select kept.left_cents, former.closed_cents + kept.left_cents as delta_cents
) own
where adjustment.id = former.id
  and (adjustment.left_amount_cents, adjustment.delta_amount_cents) <> (own.left_cents, own.delta_cents);

-- A settlement of late events took its events in at its own instant. Those that an amendment took in at that instant
-- have a version by it.
update taken_late_events taken set correction_id = found.correction_id
from (
  select distinct on (late.organization_id, late.event_id) late.organization_id, late.event_id,
    correction.id as correction_id
  from taken_late_events late
  join events event on event.organization_id = late.organization_id and event.id = late.event_id
  join event_corrections correction on correction.organization_id = late.organization_id
    and correction.kind = 'late_events' and correction.created_at = late.taken_at
    and correction.external_subscription_id = event.external_subscription_id
  join correction_periods period on period.organization_id = late.organization_id
    and period.correction_id = correction.id
  where late.correction_id is null and not exists (
      select from event_versions version
      where version.organization_id = late.organization_id and version.event_id = late.event_id
        and version.recorded_at = late.taken_at)
    and event.timestamp < period.charges_to_datetime
  order by late.organization_id, late.event_id, abs(extract(epoch from period.charges_from_datetime - event.timestamp)),
    correction.id
) found
where taken.organization_id = found.organization_id and taken.event_id = found.event_id;

alter table correction_adjustments add column given_back_amount_cents bigint not null default 0;
comment on column correction_adjustments.given_back_amount_cents is
  'What its credit note gives back of the difference; with what is billed and what was netted it is the settled amount.';
alter table correction_adjustments add column credited_item jsonb;
comment on column correction_adjustments.credited_item is
  'The item of the invoice whose fee gives it back, where that was billed in place of its own; null: its own.';

-- A note of another invoice has an adjustment of its own; the first of a fall is the one with more than a note.
update correction_adjustments set given_back_amount_cents = -delta_amount_cents
where booked_as = 'credit_note' and settled_amount_cents = delta_amount_cents and billed_amount_cents = 0
  and left_amount_cents = 0 and uncreditable_amount_cents = 0;
-- Where differences of an invoice were netted, the smallest falls were canceled first.
with row as (
  select adjustment.*, adjustment.delta_amount_cents - adjustment.left_amount_cents as cents,
    row_number() over (partition by adjustment.correction_id, adjustment.invoice_id, adjustment.subscription_id,
      adjustment.kind, adjustment.charge_id, adjustment.charge_filter_id, adjustment.grouped_by
      order by adjustment.id) as nth
  from correction_adjustments adjustment
  where adjustment.delta_amount_cents is not null and adjustment.invoice_id is not null
    and exists (select from correction_adjustments noted
      where noted.correction_id = adjustment.correction_id and noted.invoice_id = adjustment.invoice_id
        and noted.booked_as = 'credit_note')
), fall as (
  select (array_agg(id order by nth))[1] as id, correction_id, invoice_id, sum(cents) as cents,
    sum(cents) filter (where nth > 1) as later_cents
  from row
  group by correction_id, invoice_id, subscription_id, kind, charge_id, charge_filter_id, grouped_by
), netted as (
  select fall.id, coalesce(fall.later_cents, 0) as later_cents, least(-fall.cents, greatest(0,
      coalesce(sum(fall.cents) filter (where fall.cents > 0) over whole, 0)
      - coalesce(sum(-fall.cents) filter (where fall.cents < 0) over before, 0))) as cents
  from fall
  window whole as (partition by correction_id, invoice_id),
    before as (partition by correction_id, invoice_id order by abs(fall.cents), fall.id
      rows between unbounded preceding and 1 preceding)
)
update correction_adjustments adjustment
set given_back_amount_cents = adjustment.billed_amount_cents - adjustment.settled_amount_cents - netted.cents
from netted
where netted.id = adjustment.id and adjustment.booked_as = 'credit_note';

drop index correction_adjustments_fee_key;
create unique index correction_adjustments_fee_key on correction_adjustments
  (correction_id, fee_id, kind, coalesce(charge_filter_id, '00000000-0000-0000-0000-000000000000'),
    md5(grouped_by::text), coalesce(md5(credited_item::text), ''));
create index correction_adjustments_credit_note on correction_adjustments (organization_id, credit_note_id)
  where credit_note_id is not null;
create index invoices_in_place on invoices (organization_id, voided_invoice_id) where voided_invoice_id is not null;
