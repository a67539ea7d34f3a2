-- Why: a look at late events goes through many events in several steps, but those of one subscription and window are
--   settled together at its end. Until then they are kept here.
-- Locks: only a new table.

create table gathered_late_events (
  organization_id uuid not null,
  event_id uuid not null,
  invoice_id uuid,
  external_subscription_id text not null,
  window_from timestamptz not null,
  policy text not null check (policy in ('next_invoice', 'debit_invoice', 'credit_note')),
  constraint gathered_late_events_key unique nulls not distinct
    (organization_id, invoice_id, window_from, external_subscription_id, policy, event_id)
);
comment on table gathered_late_events is
  'Late events that a look has found; its end takes them out and owes their settling, by subscription and window.';
comment on column gathered_late_events.invoice_id is
  'The invoice that the look is for. Null: it is the hourly look at all events.';
-- As 0057 has it for the other tables.
alter table gathered_late_events alter column organization_id set statistics 0;
