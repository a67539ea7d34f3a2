-- Why: credit notes with their items and taxes, what they settle and what they pay (credits-and-payments C).
-- Locks: new tables; two columns without default are added, so no table is rewritten.
create table credit_notes (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  billing_entity_id uuid not null references billing_entities (id),
  customer_id uuid not null references customers (id),
  invoice_id uuid not null references invoices (id),
  status text not null check (status in ('draft', 'finalized', 'deleted')),
  sequential_id integer not null,
  number text not null,
  currency text not null,
  reason text not null check (reason in ('duplicated_charge', 'product_unsatisfactory', 'order_change', 'order_cancellation', 'fraudulent_charge', 'other')),
  description text,
  issuing_date date not null,
  credit_status text not null check (credit_status in ('available', 'consumed', 'voided')),
  refund_status text check (refund_status in ('pending', 'succeeded', 'failed')),
  total_amount_cents bigint not null,
  credit_amount_cents bigint not null check (credit_amount_cents >= 0),
  refund_amount_cents bigint not null check (refund_amount_cents >= 0),
  offset_amount_cents bigint not null check (offset_amount_cents >= 0),
  balance_amount_cents bigint not null,
  precise_total_amount_cents numeric(30, 5) not null,
  sub_total_excluding_taxes_amount_cents bigint not null,
  coupons_adjustment_amount_cents bigint not null,
  precise_coupons_adjustment_amount_cents numeric(30, 5) not null,
  taxes_amount_cents bigint not null,
  precise_taxes_amount_cents numeric(30, 5) not null,
  taxes_rate numeric(30, 5) not null,
  metadata jsonb,
  -- the subscription whose end it credits
  terminated_subscription_id uuid references subscriptions (id),
  refunded_at timestamptz,
  voided_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint credit_notes_sequence_key unique (organization_id, invoice_id, sequential_id),
  constraint credit_notes_parts check (credit_amount_cents + refund_amount_cents + offset_amount_cents = total_amount_cents),
  -- however many invoices reach for it at once, no more is taken than it holds
  constraint credit_notes_balance check (balance_amount_cents between 0 and credit_amount_cents)
);
-- The unused days of a subscription are credited once.
create unique index credit_notes_termination_key on credit_notes (organization_id, terminated_subscription_id)
  where terminated_subscription_id is not null and status <> 'deleted';
create index credit_notes_newest on credit_notes (organization_id, created_at desc, id desc) where status = 'finalized';
create index credit_notes_customer on credit_notes (organization_id, customer_id, created_at desc, id desc);
create index credit_notes_spendable on credit_notes (organization_id, customer_id, currency, created_at, id)
  where status = 'finalized' and credit_status = 'available' and balance_amount_cents > 0;

create table credit_note_items (
  id uuid primary key,
  organization_id uuid not null,
  credit_note_id uuid not null references credit_notes (id) on delete cascade,
  -- null between two computations of a draft invoice, which make new fees
  fee_id uuid references fees (id) on delete set null,
  -- what the fee billed: the new fee of the same is found by it
  fee_key text not null,
  fee_amount_cents bigint not null,
  amount_cents bigint not null,
  precise_amount_cents numeric(30, 5) not null,
  amount_currency text not null,
  created_at timestamptz not null
);
create index credit_note_items_note on credit_note_items (organization_id, credit_note_id);
create index credit_note_items_fee on credit_note_items (fee_id);

create table credit_note_applied_taxes (
  id uuid primary key,
  organization_id uuid not null,
  credit_note_id uuid not null references credit_notes (id) on delete cascade,
  tax_id uuid references taxes (id),
  tax_code text not null,
  tax_name text not null,
  tax_rate numeric(30, 10) not null,
  tax_description text,
  base_amount_cents bigint not null,
  amount_cents bigint not null,
  amount_currency text not null,
  created_at timestamptz not null,
  constraint credit_note_applied_taxes_key unique (organization_id, credit_note_id, tax_code)
);

-- What settled an invoice without money: the offset parts of its notes.
create table invoice_settlements (
  id uuid primary key,
  organization_id uuid not null,
  invoice_id uuid not null references invoices (id),
  settlement_type text not null check (settlement_type in ('credit_note')),
  credit_note_id uuid not null references credit_notes (id),
  amount_cents bigint not null check (amount_cents > 0),
  amount_currency text not null,
  created_at timestamptz not null,
  constraint invoice_settlements_note_key unique (organization_id, credit_note_id)
);
create index invoice_settlements_invoice on invoice_settlements (organization_id, invoice_id);

alter table credits add column credit_note_id uuid references credit_notes (id);
create unique index credits_credit_note_key on credits (organization_id, invoice_id, credit_note_id)
  where credit_note_id is not null;
create index ledger_entries_credit_note on ledger_entries (organization_id, credit_note_id) where credit_note_id is not null;
