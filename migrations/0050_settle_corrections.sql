-- Why: what a correction changes about issued invoices is booked by documents: fees on later invoices, invoices of their
-- own, credit notes (beyond 4.3 to 4.5).
-- Locks: fees and correction_adjustments exclusively for an instant (new columns without a default to be written).
alter table fees add column correction_id uuid references event_corrections (id);

alter table correction_adjustments
  add column subscription_id uuid references subscriptions (id),
  add column kind text not null default 'usage' check (kind in ('usage', 'true_up', 'commitment')),
  add column invoice_display_name text,
  -- new units less old ones
  add column units numeric not null default 0,
  -- what of the difference counts as billed from now on: booked, or netted with another one of the same invoice
  add column settled_amount_cents bigint not null default 0,
  -- what of it a fee bills; below 0: takes that much off fees that are still waiting
  add column billed_amount_cents bigint not null default 0;

-- A fee on a draft comes and goes with each computation; without it the row waits again.
alter table correction_adjustments
  drop constraint correction_adjustments_new_fee_id_fkey,
  add constraint correction_adjustments_new_fee_id_fkey foreign key (new_fee_id) references fees (id) on delete set null;
create index correction_adjustments_waiting on correction_adjustments (organization_id, subscription_id)
  where billed_amount_cents <> 0 and new_fee_id is null;
create index correction_adjustments_invoice on correction_adjustments (organization_id, invoice_id);
create index correction_adjustments_new_fee on correction_adjustments (organization_id, new_fee_id)
  where new_fee_id is not null;

-- Charges on issued invoices that a correction concerns; they are settled invoice by invoice.
create table correction_periods (
  organization_id uuid not null,
  correction_id uuid not null references event_corrections (id),
  invoice_id uuid not null references invoices (id),
  subscription_id uuid not null references subscriptions (id),
  charge_id uuid not null references charges (id),
  charges_from_datetime timestamptz not null,
  charges_to_datetime timestamptz not null,
  settled_at timestamptz,
  primary key (correction_id, invoice_id, subscription_id, charge_id)
);
