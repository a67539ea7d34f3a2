-- Why: the fees of a regenerated invoice are copies, and the copy of a fee that bills the difference of an earlier
-- period did not say so: it was taken for usage of the invoice's own period. A copy keeps the correction from now on.
-- Locks: these copies while they are updated.

update fees copy set correction_id = source.correction_id
from fees source
where copy.original_fee_id is not null and copy.correction_id is null
  and source.organization_id = copy.organization_id and source.id = copy.original_fee_id
  and source.correction_id is not null;
