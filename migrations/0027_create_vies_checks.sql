-- Why: numbers of customers that the VAT register is asked about, until it answers (credits-and-payments A.6).
-- Locks: a new table; the index on invoices is built under a share lock, for seconds at most.
create table vies_checks (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  customer_id uuid not null references customers (id),
  tax_identification_number text not null,
  status text not null check (status in ('pending', 'valid', 'invalid')),
  -- taxes that came with the number: the customer holds them beside the one that the answer gives
  tax_ids uuid[] not null default '{}',
  attempts integer not null default 0,
  last_error text,
  -- in real time; null once it is answered
  next_attempt_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint vies_checks_customer_key unique (organization_id, customer_id),
  constraint vies_checks_pending check ((status = 'pending') = (next_attempt_at is not null))
);
create index vies_checks_due on vies_checks (next_attempt_at) where status = 'pending';
create index invoices_awaiting_taxes on invoices (organization_id, customer_id)
  where status = 'pending' and tax_status = 'pending';
