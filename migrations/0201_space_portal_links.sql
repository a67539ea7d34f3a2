-- Why: a customer whose link has expired gets a new one by mail, once in five minutes
--   (portal.md#links-that-have-expired).
-- Locks: none; a new table.

create table portal_links (
  organization_id uuid not null constraint portal_links_organization_id_fkey references organizations deferrable,
  customer_id uuid not null constraint portal_links_customer_id_fkey references customers deferrable,
  sent_at timestamptz not null,
  constraint portal_links_pkey primary key (organization_id, customer_id)
);
comment on table portal_links is 'When a customer was last mailed a link that it asked for.';
alter table portal_links alter column organization_id set statistics 0;
