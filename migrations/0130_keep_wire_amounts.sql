-- Why: what a provider was asked for, in its own units; and what its rounding leaves of an invoice is written off with the
-- payment, so that taking the payment back takes the write-off back.
-- Locks: adds columns without default to payments and invoice_settlements, for a moment each.
alter table payments add column wire_amount bigint, add column wire_currency text;
alter table invoice_settlements add column payment_id uuid references payments (id);
create index invoice_settlements_payment on invoice_settlements (organization_id, payment_id) where payment_id is not null;
