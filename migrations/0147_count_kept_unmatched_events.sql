-- Why: totals of unmatched events say how many of them have an open row, so that healing finds those that count more than
-- they have without counting rows, and a row says which total it is counted in, since codes beyond a limit share one.
-- Locks: unmatched_totals while its rows are counted once, about 2 s per million of open rows; the new column of
-- unmatched_events has a constant default, so it is added in an instant.
alter table unmatched_totals add column kept bigint not null default 0;
update unmatched_totals total set kept = open.count
from (
  select organization_id, reason, code, count(*) as count from unmatched_events
  where status = 'open' group by organization_id, reason, code
) open
where total.organization_id = open.organization_id and total.reason = open.reason and total.code = open.code;
delete from unmatched_totals where count <= 0;
create index unmatched_totals_overflown on unmatched_totals (organization_id, code) where kept < count;
create index unmatched_totals_empty on unmatched_totals (organization_id) where count <= 0;

alter table unmatched_events add column shares_total boolean not null default false;
