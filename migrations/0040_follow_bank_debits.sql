-- Why: a bank debit takes days and may be taken back later, and its events may arrive in another order than they
--   happened in; a payment says when it is expected, when it was last reported about, when its money was taken back.
-- Locks: payments for an instant; no row is rewritten.

alter table payments add column expected_settlement_date date;
comment on column payments.expected_settlement_date is 'Day on which a bank debit is expected to be paid.';
alter table payments add column reported_at timestamptz;
comment on column payments.reported_at is
  'When that happened which its provider has reported last; a report about an earlier instant changes nothing.';
alter table payments add column reversed_at timestamptz;
comment on column payments.reversed_at is 'When money that had come in was taken back. Null: it was not, or came again.';
