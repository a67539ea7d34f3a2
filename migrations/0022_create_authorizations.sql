-- Why: an amount that was authorized for a new subscription is released at its provider, also when the process that
--   asked for it dies: no authorization may be unknown to us, so its row is committed before the provider is asked.
-- Locks: payment_providers and organizations for an instant, by the references.

create table authorizations (
  id uuid primary key,
  organization_id uuid not null references organizations (id) deferrable,
  connection_id uuid not null references payment_providers (id) deferrable,
  command_id uuid not null,
  provider_customer_id text not null,
  provider_method_id text not null,
  provider_payment_id text,
  amount_cents bigint not null check (amount_cents > 0),
  currency text not null,
  status text not null default 'asked' check (status in ('asked', 'held', 'refused', 'released')),
  subscription_id uuid,
  attempts integer not null default 0,
  released_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint authorizations_command_key unique (organization_id, command_id),
  constraint authorizations_held_has_id check (status <> 'held' or provider_payment_id is not null)
);
comment on table authorizations is 'Amounts that a provider reserved before a subscription was created.';
comment on column authorizations.command_id is 'Part of the key with which the provider was asked.';
comment on column authorizations.provider_payment_id is 'Null: the provider''s answer is not known.';
comment on column authorizations.attempts is 'How often its release was tried.';
create index authorizations_open on authorizations (created_at) where released_at is null;
