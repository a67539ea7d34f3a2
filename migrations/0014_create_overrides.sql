-- Why: pricing units, minimum commitments, and what changes of a plan its overrides still have to follow.
-- Locks: charges for a moment, to add two columns without a default.
create table pricing_units (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  code text not null,
  name text not null,
  short_name text not null,
  description text,
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index pricing_units_code_key on pricing_units (organization_id, code) where deleted_at is null;

alter table charges
  add column pricing_unit_id uuid references pricing_units (id),
  -- main units of the currency per pricing unit
  add column conversion_rate numeric(40, 15) check (conversion_rate > 0);

create table minimum_commitments (
  id uuid primary key,
  organization_id uuid not null,
  plan_id uuid not null references plans (id),
  -- for one interval of the plan
  amount_cents bigint not null check (amount_cents > 0),
  invoice_display_name text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint minimum_commitments_plan_key unique (organization_id, plan_id)
);

create table commitment_taxes (
  organization_id uuid not null,
  commitment_id uuid not null references minimum_commitments (id) on delete cascade,
  tax_id uuid not null references taxes (id),
  primary key (organization_id, commitment_id, tax_id)
);

-- Changes of a plan that one of its overrides has yet to follow, in order.
create table plan_cascades (
  position bigint generated always as identity primary key,
  organization_id uuid not null,
  plan_id uuid not null references plans (id),
  change jsonb not null,
  created_at timestamptz not null
);
create index plan_cascades_plan on plan_cascades (organization_id, plan_id, position);
create index charges_parent on charges (organization_id, parent_id) where parent_id is not null;
