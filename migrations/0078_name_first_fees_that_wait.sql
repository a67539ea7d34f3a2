-- Why: a correction that came after its invoice was made anew named the copied fee, an earlier one the first fee. The
--   later one did not find the earlier one, and settled before it. All name the first fee now.
-- Locks: the rows of correction_waiting_fees that are not settled and name a copy, for an instant.

update correction_waiting_fees waiting set fee_id = fee.original_fee_id
from fees fee
where waiting.settled_at is null and fee.organization_id = waiting.organization_id and fee.id = waiting.fee_id
  and fee.original_fee_id is not null;
