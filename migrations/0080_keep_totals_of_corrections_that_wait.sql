-- Why: a weighted sum goes on from the total that the period before ended with. While a correction waited for the
--   invoice of that period, the next one went on from the wrong total, and so did every later one, for good.
--   A correction that waits when this is deployed keeps its totals when it looks again, within the hour.
-- Locks: correction_periods while a column without a value is added and a small index is built.

alter table correction_periods add column totals jsonb;
comment on column correction_periods.totals is
  'While the correction waits: the running totals at the end of the period, from which later periods go on. '
  'Null: it carries none.';
create index correction_periods_totals on correction_periods (organization_id, subscription_id, charge_id)
  where settled_at is null and totals is not null;
