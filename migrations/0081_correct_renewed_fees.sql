-- Why: units that a charge billed in advance carries into a period as fees on no invoice are priced again when an event
-- before that period is corrected (usage C.10, beyond 4.3 "recurring metric").
-- Locks: a new table.
create table correction_renewals (
  organization_id uuid not null,
  correction_id uuid not null references event_corrections (id),
  subscription_id uuid not null references subscriptions (id),
  charge_id uuid not null references charges (id),
  -- of the line that opened the period
  billed_at timestamptz not null,
  -- the invoice of that line
  invoice_id uuid not null references invoices (id),
  settled_at timestamptz,
  primary key (correction_id, subscription_id, charge_id, billed_at)
);
