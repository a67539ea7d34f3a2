-- Why: a billing entity says how the pages of its customers look and what may be done there (portal.md#settings).
-- Locks: none; a new table.

create table portal_settings (
  organization_id uuid not null constraint portal_settings_organization_id_fkey references organizations deferrable,
  billing_entity_id uuid not null constraint portal_settings_billing_entity_id_fkey
    references billing_entities deferrable,
  settings jsonb not null constraint portal_settings_settings check (jsonb_typeof(settings) = 'object'),
  updated_at timestamptz not null,
  constraint portal_settings_pkey primary key (organization_id, billing_entity_id)
);
comment on table portal_settings is 'How the pages of an issuer''s customers look and what may be done there.';
comment on column portal_settings.settings is 'only those that were set';
alter table portal_settings alter column organization_id set statistics 0;
