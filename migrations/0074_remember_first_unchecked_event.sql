-- Why: a sandbox's events are made at its own time, so their ids do not say when: each hourly check under its clock,
--   and each look for the next one, read all events of the organization. Now a check leaves where the next one begins.
-- Locks: event_checks, for a moment; it has a row an organization.

alter table event_checks add column first_open_event_id uuid;
comment on column event_checks.first_open_event_id is
  'In a sandbox: no event with a smaller id waits for the check. Null: not known, or the organization is no sandbox.';
