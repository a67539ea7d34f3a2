-- Why: the sweep finds organizations with entries that no decision has folded (budgets.md#life-of-a-window).
-- Locks: budget_entries, which is new.

create index budget_entries_unfolded on budget_entries (organization_id, window_id) where folded_at is null;
