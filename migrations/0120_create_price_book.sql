-- Why: calls of language models are priced by a book of dated prices (price-book.md): rows of an organization and of
--   the deployment, other names of models, and the events that wait for a price. Storing compares the version of the
--   book as it compares that of metrics, so hold_shapes_version adds the version of the deployment's layer.
-- Locks: organizations for a column with a constant default, which rewrites nothing; else new tables.

alter table organizations add column book_version bigint not null default 0;
comment on column organizations.book_version is 'grows with each change of its prices and of its names of models';

create table price_layers (
  name text not null constraint price_layers_pkey primary key
    constraint price_layers_name check (name = 'deployment'),
  version bigint not null default 0,
  imported_at timestamptz
);
comment on table price_layers is 'The layer of prices that all organizations share: its version, and the last import.';
insert into price_layers (name) values ('deployment');

create table price_entries (
  id uuid not null constraint price_entries_pkey primary key,
  organization_id uuid constraint price_entries_organization_id_fkey references organizations deferrable,
  provider text not null,
  model text not null,
  tier text not null,
  kind text not null,
  min_input_tokens bigint not null constraint price_entries_min_input_tokens check (min_input_tokens >= 0),
  cost numeric not null constraint price_entries_cost check (cost >= 0),
  sell numeric constraint price_entries_sell check (sell >= 0),
  per bigint not null constraint price_entries_per check (per > 0),
  currency text not null,
  valid_from timestamptz not null,
  source text,
  source_ref text,
  book_version bigint not null,
  retracted_version bigint,
  created_at timestamptz not null
);
comment on table price_entries is
  'Dated prices of models. A row is never changed but by its retraction: a change is a new row.';
comment on column price_entries.organization_id is 'null: a price of the deployment, for all organizations';
comment on column price_entries.min_input_tokens is 'holds for calls with more input tokens than this';
comment on column price_entries.cost is 'main units of the currency for `per` of the kind; exact';
comment on column price_entries.sell is 'what the seller asks; null: what it costs';
comment on column price_entries.book_version is
  'of its layer, with which it holds; retracted_version: with which it ends';
create index price_entries_model on price_entries (organization_id, provider, model);

create table price_aliases (
  organization_id uuid not null constraint price_aliases_organization_id_fkey references organizations deferrable,
  provider text not null,
  pattern text not null,
  target_provider text,
  target_model text not null,
  constraint price_aliases_pkey primary key (organization_id, provider, pattern)
);
comment on table price_aliases is 'Other names of models: exact, or with one star at the end.';

create table ai_unpriced (
  organization_id uuid not null,
  event_id uuid not null,
  external_subscription_id text not null,
  provider text not null,
  model text not null,
  tier text not null,
  reason text not null constraint ai_unpriced_reason check (reason in ('price', 'usage')),
  missing_kinds text[] not null,
  tokens numeric not null,
  event_timestamp timestamptz not null,
  book text not null,
  status text not null default 'open' constraint ai_unpriced_status check (status in ('open', 'healed', 'ignored')),
  constraint ai_unpriced_pkey primary key (organization_id, event_id)
);
comment on table ai_unpriced is 'Events of calls that have no amount: for want of a price, or of a part of the usage.';
comment on column ai_unpriced.model is 'as the call named it';
comment on column ai_unpriced.book is 'versions of the book that had no price';
create index ai_unpriced_open on ai_unpriced (organization_id, provider, model, event_id)
  where status = 'open' and reason = 'price';

create table ai_unpriced_models (
  organization_id uuid not null constraint ai_unpriced_models_organization_id_fkey references organizations deferrable,
  provider text not null,
  model text not null,
  tier text not null,
  missing_kinds text[] not null,
  events bigint not null,
  tokens numeric not null,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  told_on date,
  constraint ai_unpriced_models_pkey primary key (organization_id, provider, model, tier)
);
comment on table ai_unpriced_models is 'Open events without an amount, counted by model and tier.';
comment on column ai_unpriced_models.told_on is 'the day of the last notification about it';

-- No statement depends on which organization rows belong to (0057).
alter table price_entries alter column organization_id set statistics 0;
alter table price_aliases alter column organization_id set statistics 0;
alter table ai_unpriced alter column organization_id set statistics 0;
alter table ai_unpriced_models alter column organization_id set statistics 0;

-- As in 0008, with the version of the deployment's prices added: both only grow, so an equal sum means equal versions.
create or replace function hold_shapes_version(organization uuid) returns bigint language plpgsql volatile as $$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended(organization::text, 5301));
  return (select o.shapes_version + layer.version from organizations o, price_layers layer where o.id = organization);
end
$$;
