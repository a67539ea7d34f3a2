-- Why: adjusted fees of drafts (usage-and-charges F.6), error details of invoices (subscriptions-and-invoices F.14), and
-- the way from a voided invoice to the one made in its place (F.13).
-- Locks: two new tables; the index on invoices is built under a share lock, for seconds at most.

-- What somebody set by hand about one fee of a draft. The fee is found again by what it bills, since every computation
-- of the draft makes new fees; an adjusted one keeps its id.
create table adjusted_fees (
  id uuid primary key,
  organization_id uuid not null,
  invoice_id uuid not null references invoices (id) on delete cascade,
  fee_id uuid not null,
  subscription_id uuid not null references subscriptions (id),
  fee_type text not null,
  charge_id uuid references charges (id),
  charge_filter_id uuid references charge_filters (id),
  fixed_charge_id uuid references fixed_charges (id),
  grouped_by jsonb not null default '{}',
  from_datetime timestamptz not null,
  to_datetime timestamptz not null,
  units numeric,
  unit_precise_amount numeric,
  invoice_display_name text,
  created_at timestamptz not null,
  constraint adjusted_fees_fee_key unique (organization_id, invoice_id, fee_id)
);

create table invoice_error_details (
  id uuid primary key,
  organization_id uuid not null,
  invoice_id uuid not null references invoices (id) on delete cascade,
  error_code text not null check (error_code in ('not_provided', 'tax_error', 'tax_voiding_error', 'invoice_generation_error')),
  details jsonb not null default '{}',
  created_at timestamptz not null
);
create index invoice_error_details_invoice on invoice_error_details (organization_id, invoice_id);

-- A voided invoice is made anew once at a time: what was made in its place has to be voided first.
create unique index invoices_regenerated_key on invoices (organization_id, voided_invoice_id)
  where voided_invoice_id is not null and status not in ('voided', 'closed', 'deleted');

-- What the refresh of drafts selects.
create index invoices_flagged on invoices (organization_id, id) where status = 'draft' and ready_to_be_refreshed;
