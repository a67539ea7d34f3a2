-- Why: add-ons, the fixed charges that plans make of them with their units over time, and what one-off invoices say of
-- their payment.
-- Locks: new tables; fees and invoices for an instant, each to add columns that are null or have a constant default.
create table add_ons (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  code text not null,
  name text not null,
  invoice_display_name text,
  description text,
  amount_cents bigint not null check (amount_cents > 0),
  amount_currency text not null,
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index add_ons_code_key on add_ons (organization_id, code) where deleted_at is null;

create table add_on_taxes (
  organization_id uuid not null,
  add_on_id uuid not null references add_ons (id),
  tax_id uuid not null references taxes (id),
  primary key (organization_id, add_on_id, tax_id)
);

create table fixed_charges (
  id uuid primary key,
  organization_id uuid not null,
  plan_id uuid not null references plans (id),
  parent_id uuid references fixed_charges (id),
  add_on_id uuid not null references add_ons (id),
  code text not null,
  charge_model text not null check (charge_model in ('standard', 'graduated', 'volume')),
  invoice_display_name text,
  units numeric(30, 10) not null check (units >= 0),
  pay_in_advance boolean not null,
  prorated boolean not null,
  properties jsonb not null,
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index fixed_charges_code_key on fixed_charges (organization_id, plan_id, code) where deleted_at is null;
create index fixed_charges_parent on fixed_charges (organization_id, parent_id) where parent_id is not null;
create index fixed_charges_add_on on fixed_charges (organization_id, add_on_id) where deleted_at is null;

create table fixed_charge_taxes (
  organization_id uuid not null,
  fixed_charge_id uuid not null references fixed_charges (id),
  tax_id uuid not null references taxes (id),
  primary key (organization_id, fixed_charge_id, tax_id)
);

-- Units of a fixed charge for one subscription over time: a log in the order of its ids (usage-and-charges E.2).
create table fixed_charge_units (
  id uuid primary key,
  organization_id uuid not null,
  subscription_id uuid not null references subscriptions (id),
  fixed_charge_id uuid not null references fixed_charges (id),
  units numeric(30, 10) not null,
  effective_at timestamptz not null,
  created_at timestamptz not null
);
create index fixed_charge_units_subscription on fixed_charge_units (organization_id, subscription_id, fixed_charge_id, id);

-- Units that one subscription has instead of its plan's.
create table fixed_charge_units_overrides (
  organization_id uuid not null,
  subscription_id uuid not null references subscriptions (id),
  fixed_charge_id uuid not null references fixed_charges (id),
  units numeric(30, 10) not null check (units >= 0),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (organization_id, subscription_id, fixed_charge_id)
);
create index fixed_charge_units_overrides_charge on fixed_charge_units_overrides (organization_id, fixed_charge_id);

alter table fees add column fixed_charge_id uuid references fixed_charges (id);
create index fees_fixed_charge on fees (organization_id, subscription_id, fixed_charge_id) where fixed_charge_id is not null;

alter table invoices
  add column skip_psp boolean not null default false,
  add column payment_method_type text,
  add column payment_method_id uuid;
