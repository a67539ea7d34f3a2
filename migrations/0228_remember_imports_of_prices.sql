-- Why: a file of prices is odd when it has far fewer models than the last one of its source, not than all that ever
--   were. A layer that has no row here is compared with the models that it has.
-- Locks: a new table only.

create table price_imports (
  organization_id uuid constraint price_imports_organization_id_fkey references organizations deferrable,
  source text not null,
  models bigint not null
);
comment on table price_imports is 'How many models the last file of prices of each source had.';
comment on column price_imports.organization_id is 'null: the layer of the deployment';
create unique index price_imports_key on price_imports (organization_id, source) nulls not distinct;

-- No statement depends on which organization rows belong to (0057).
alter table price_imports alter column organization_id set statistics 0;
