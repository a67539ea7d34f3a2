-- Why: results of invoice verifications, and what the auditor found in the books (beyond 6.2, 9).
-- Locks: only new tables.
create table verifications (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  invoice_id uuid not null references invoices (id),
  level text not null check (level in ('inputs', 'events')),
  status text not null check (status in ('equal', 'different', 'not_verifiable')),
  result jsonb not null,
  created_at timestamptz not null
);
create index verifications_invoice on verifications (organization_id, invoice_id, created_at desc, id desc);

create table audit_runs (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  mode text not null check (mode in ('incremental', 'full', 'manual')),
  status text not null check (status in ('running', 'succeeded', 'failed')),
  -- [{code, count, new_count, ms}]
  checks jsonb not null default '[]',
  findings_count integer not null default 0,
  new_findings_count integer not null default 0,
  error jsonb,
  -- business time
  created_at timestamptz not null,
  started_at timestamptz not null,
  finished_at timestamptz
);
create index audit_runs_newest on audit_runs (organization_id, created_at desc, id desc);

create table audit_findings (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  "check" text not null,
  status text not null check (status in ('open', 'acknowledged', 'resolved')),
  resource_type text not null,
  resource_id text not null,
  expected text,
  actual text,
  details jsonb not null default '{}',
  note text,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  resolved_at timestamptz
);
create unique index audit_findings_live_key on audit_findings (organization_id, "check", resource_type, resource_id)
  where status <> 'resolved';
create index audit_findings_newest on audit_findings (organization_id, last_seen_at desc, id desc);
