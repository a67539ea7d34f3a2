-- Why: events that arrive after their window was put on a final invoice are settled by policy (beyond 4.6); the job knows
-- by this row which events it has looked at.
-- Locks: only a new table.
create table late_event_cursors (
  organization_id uuid primary key references organizations (id),
  -- ids of events grow with time
  seen_id uuid not null
);
