-- Why: verifying an invoice looks for the events that were corrected after it was issued (beyond 6.2).
-- Locks: event_versions against writing while the index is built; it has a row a correction.
create index event_versions_correction on event_versions (organization_id, correction_id);
