-- Why: a correction of a call whose price was not known replaces what stayed counted of its hold
--   (budgets.md#holds).
-- Locks: budget_entries, for as long as it takes to read them once.

create index budget_entries_provisional on budget_entries (organization_id, ref) where source = 'provisional';
