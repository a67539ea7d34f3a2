-- Why: a payment of an invoice that is given up is ended at its provider too; until then its row owes that.
-- Locks: payments, for the moment of adding a column without a default.
alter table payments add column cancel_owed_at timestamptz;
create index payments_cancel_owed on payments (cancel_owed_at) where cancel_owed_at is not null;

-- Why: refunds whose event may be lost are asked about.
-- Locks: credit_note_refunds, whose writers wait while the index is built.
create index credit_note_refunds_begun on credit_note_refunds (updated_at)
  where provider_refund_id is not null and status in ('pending', 'requires_action');
