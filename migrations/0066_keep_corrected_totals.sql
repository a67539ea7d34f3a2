-- Why: a weighted sum of a recurring metric goes on from the total that its last fee ended with; a correction leaves another
-- one, from which later periods go on (usage C.7, beyond 4.3 "recurring metric").
-- Locks: correction_adjustments exclusively for an instant; its writers wait while the index is built.
alter table correction_adjustments add column total_units numeric;
create index correction_adjustments_totals on correction_adjustments (organization_id, subscription_id, charge_id)
  where total_units is not null;
