-- Why: an after-step whose name no worker knows waits (a rolling deploy has old and new workers); the row says since when,
-- so that the auditor, the metrics and the operator see it.
-- Locks: adds a column without default to after_steps, for a moment.
alter table after_steps add column unknown_since timestamptz;
