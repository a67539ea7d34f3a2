-- Which cell holds which organization, key and link (docs/rules/cells.md). Read by every ingress with CELLS; written by
-- `npm run cells` and `npm run org`, and by an ingress that had to ask the cells. New tables: locks nothing.
create table cells (
  name text primary key check (name ~ '^[a-z][a-z0-9-]{0,29}$'),
  -- Null: that of DATABASE_URL; else a name of CELL_DATABASE_URLS.
  database text check (database ~ '^[a-z][a-z0-9-]{0,29}$'),
  schema text not null check (schema ~ '^[a-z_][a-z0-9_]{0,47}$' and schema <> 'control'),
  redis_prefix text not null constraint cells_redis_prefix_key unique check (redis_prefix !~ '[{}]'),
  state text not null default 'serving' check (state in ('serving', 'draining', 'drained')),
  retry_after_seconds int not null default 30 check (retry_after_seconds between 1 and 86400),
  created_at timestamptz not null,
  constraint cells_place_key unique nulls not distinct (database, schema)
);

create table organizations (
  id uuid primary key,
  cell text not null references cells (name)
);
create index organizations_cell_idx on organizations (cell);

create table api_keys (
  digest bytea primary key,
  organization_id uuid not null references organizations (id) on delete cascade
);
create index api_keys_organization_id_idx on api_keys (organization_id);

-- What the links of browsers name: customers, documents, invoices, payment requests. A row can go at any time: who
-- opens the link again is looked for again.
create table links (
  subject_id uuid primary key,
  cell text not null references cells (name),
  noted_at timestamptz not null
);
create index links_noted_at_idx on links (noted_at);
create index links_cell_idx on links (cell);
