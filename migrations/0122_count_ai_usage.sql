-- Why: cost and margin of calls of language models are read from sums by hour and day, not from events (margins.md).
--   A day is summed again from its hours once they changed; the changed days are listed here.
-- Locks: new tables only.

create table ai_groups (
  organization_id uuid not null constraint ai_groups_organization_id_fkey references organizations deferrable,
  group_hash bytea not null,
  provider text not null,
  model text not null,
  tier text not null,
  code text not null,
  dimensions jsonb not null,
  constraint ai_groups_pkey primary key (organization_id, group_hash)
);
comment on table ai_groups is 'What calls of language models are summed by.';
comment on column ai_groups.group_hash is
  'first 16 bytes of the SHA-256 of all that follows; 16 zeros: what is left over';
comment on column ai_groups.dimensions is 'further properties, those of the setting margin_dimensions when a call came';

create table ai_usage_hours (
  organization_id uuid not null,
  external_subscription_id text not null,
  hour timestamptz not null,
  group_hash bytea not null,
  events bigint not null,
  unpriced bigint not null,
  input_tokens numeric not null,
  output_tokens numeric not null,
  cache_read_tokens numeric not null,
  cost numeric not null,
  amount numeric not null,
  constraint ai_usage_hours_pkey primary key (organization_id, external_subscription_id, hour, group_hash)
);
comment on table ai_usage_hours is
  'Sums of calls of language models by subscription, hour and group; in cents of the book.';
comment on column ai_usage_hours.unpriced is 'how many of them have no cost, or no amount though one is due';

create table ai_usage_days (
  organization_id uuid not null,
  day date not null,
  external_subscription_id text not null,
  group_hash bytea not null,
  events bigint not null,
  unpriced bigint not null,
  input_tokens numeric not null,
  output_tokens numeric not null,
  cache_read_tokens numeric not null,
  cost numeric not null,
  amount numeric not null,
  constraint ai_usage_days_pkey primary key (organization_id, day, external_subscription_id, group_hash)
);
comment on table ai_usage_days is 'The same by day (UTC), as of the last look at days whose hours had changed.';

create table ai_changed_days (
  organization_id uuid not null,
  external_subscription_id text not null,
  day date not null,
  changes bigint not null default 1,
  constraint ai_changed_days_pkey primary key (organization_id, external_subscription_id, day)
);
comment on table ai_changed_days is 'Days of subscriptions whose hours changed since the day was summed.';

create table ai_crowded_days (
  organization_id uuid not null,
  external_subscription_id text not null,
  day date not null,
  constraint ai_crowded_days_pkey primary key (organization_id, external_subscription_id, day)
);
comment on table ai_crowded_days is 'Days of subscriptions with so many groups that further ones are left over.';

-- No statement depends on which organization rows belong to (0057).
alter table ai_groups alter column organization_id set statistics 0;
alter table ai_usage_hours alter column organization_id set statistics 0;
alter table ai_usage_days alter column organization_id set statistics 0;
alter table ai_changed_days alter column organization_id set statistics 0;
alter table ai_crowded_days alter column organization_id set statistics 0;
