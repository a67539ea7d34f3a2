-- Why: a double payment is given back by a call that may end without an answer, or be paid out days later. The drift
--   says that it was asked for before the call is made, and what became of it, so that nothing else is done meanwhile
--   and the books follow the money.
-- Locks: provider_drifts for an instant; the new columns have no value.

alter table provider_drifts add column refund_asked_at timestamptz;
comment on column provider_drifts.refund_asked_at is
  'Since when the provider is asked to give a double payment back. Null: it is not, or it has refused.';

alter table provider_drifts add column refund_id text;
comment on column provider_drifts.refund_id is 'The provider''s id of that refund.';

alter table provider_drifts add column refund_status text;
comment on column provider_drifts.refund_status is 'The provider''s own word for the state of that refund.';
