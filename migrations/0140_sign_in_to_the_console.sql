-- Why: people sign in to the console with a key, a one-time link or the operator's token. A session is a random token
--   whose digest is kept here, so that it can be listed and ended at once (console.md#sessions).
-- Locks: nothing; new tables.

create table console_sessions (
  id uuid primary key,
  token_digest bytea not null constraint console_sessions_token_digest_key unique,
  csrf_key bytea not null,
  operator_digest bytea,
  user_agent text,
  remote_address text not null,
  -- real times
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  expires_at timestamptz not null,
  ended_at timestamptz
);
comment on table console_sessions is
  'A browser that is signed in to the console. Only a digest of the token in its cookie is kept.';
comment on column console_sessions.operator_digest is
  'digest of the operator''s token signed in with; another token of the settings ends it';
create index console_sessions_over on console_sessions (least(expires_at, ended_at));

create table console_identities (
  session_id uuid not null references console_sessions (id) on delete cascade,
  organization_id uuid not null references organizations (id),
  kind text not null check (kind in ('key', 'member')),
  api_key_id uuid references api_keys (id),
  member_id uuid,
  created_at timestamptz not null,
  constraint console_identities_pkey primary key (session_id, organization_id),
  constraint console_identities_kind check ((kind = 'key') = (api_key_id is not null))
);
comment on table console_identities is
  'An organization within a session, and by which key or member; permissions are those that it has at each request.';
create index console_identities_of_key on console_identities (api_key_id);
create index console_identities_of_organization on console_identities (organization_id, created_at, session_id);
alter table console_identities alter column organization_id set statistics 0;

create table console_codes (
  digest bytea primary key,
  api_key_id uuid not null references api_keys (id),
  expires_at timestamptz not null,
  used_at timestamptz
);
comment on table console_codes is 'One-time links into the console, by the digest of their code.';
create index console_codes_over on console_codes (expires_at);
