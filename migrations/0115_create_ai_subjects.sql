-- Why: usage of models names teams, users and keys of a gateway; the map says to which subscription each belongs
--   (ai-usage.md#whose-usage).
-- Locks: organizations for a column with a constant default, which rewrites nothing; else a new table.

alter table organizations add column if not exists ai_settings jsonb not null default '{}';
comment on column organizations.ai_settings is 'settings for the usage of models, only those that were set';

create table ai_subjects (
  organization_id uuid not null constraint ai_subjects_organization_id_fkey references organizations,
  kind text not null constraint ai_subjects_kind
    check (kind in ('key', 'end_user', 'user', 'team', 'organization', 'tag')),
  value text not null,
  external_subscription_id text not null,
  constraint ai_subjects_pkey primary key (organization_id, kind, value)
);
comment on table ai_subjects is 'To which subscription usage of models belongs, by whom it names.';
