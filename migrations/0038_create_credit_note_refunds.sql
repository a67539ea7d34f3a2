-- Why: refunds of credit notes at payment providers, one a note: what is owed, sent and answered (credits-and-payments C.10).
-- Locks: a new table only.
create table credit_note_refunds (
  organization_id uuid not null,
  credit_note_id uuid not null references credit_notes (id),
  payment_id uuid not null references payments (id),
  payment_provider_id uuid not null references payment_providers (id),
  provider_refund_id text,
  -- the provider's own word
  status text,
  error jsonb,
  -- when it was sent for the first time
  sent_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (organization_id, credit_note_id)
);
create unique index credit_note_refunds_provider_key
  on credit_note_refunds (organization_id, payment_provider_id, provider_refund_id) where provider_refund_id is not null;
create index credit_note_refunds_open on credit_note_refunds (updated_at) where provider_refund_id is null and error is null;
