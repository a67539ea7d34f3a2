-- Why: what is due of an invoice may be given up, and taken back (beyond 8.6).
-- Locks: invoices for an instant (constant default); invoice_settlements while its rows are checked once, milliseconds for
-- a hundred thousand.
alter table invoices add column total_written_off_amount_cents bigint not null default 0;

alter table invoice_settlements drop constraint invoice_settlements_settlement_type_check;
alter table invoice_settlements
  add column reason text,
  add column reversed_at timestamptz,
  alter column credit_note_id drop not null,
  add constraint invoice_settlements_settlement_type_check check (settlement_type in ('credit_note', 'write_off')),
  add constraint invoice_settlements_note_check check ((settlement_type = 'credit_note') = (credit_note_id is not null));
