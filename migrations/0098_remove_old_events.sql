-- Why: raw events may go once their windows were billed long ago, while their sums, their fees and their keys stay
--   (retention.md#raw-events). Four tables say up to when the time of a subscription is closed, what was removed of it,
--   where it lies in the archive, and what was brought back from there.
-- Locks: nothing; new tables.

create table event_horizons (
  organization_id uuid not null,
  external_subscription_id text not null,
  -- the start of an hour
  closed_before timestamptz not null,
  -- real time
  closed_at timestamptz not null,
  kept_codes text[] not null,
  removed_before timestamptz,
  constraint event_horizons_pkey primary key (organization_id, external_subscription_id)
);
comment on table event_horizons is
  'Before when the events of a subscription are closed: they are corrected and settled no more, and may be removed.';
comment on column event_horizons.kept_codes is
  'codes that are not closed, because later windows carry their units over';
comment on column event_horizons.removed_before is 'up to where its events were looked for and removed';
create index event_horizons_due on event_horizons (organization_id, external_subscription_id)
  where removed_before is distinct from closed_before;
alter table event_horizons alter column organization_id set statistics 0;

create table removed_events (
  organization_id uuid not null,
  external_subscription_id text not null,
  code text not null,
  -- the first day of the month in which they came, by their ids
  month date not null,
  events_count bigint not null,
  first_timestamp timestamptz not null,
  last_timestamp timestamptz not null,
  restored_at timestamptz,
  constraint removed_events_pkey primary key (organization_id, external_subscription_id, code, month)
);
comment on table removed_events is 'How many events of a subscription, code and month were removed, and of which time.';
create index removed_events_of_month on removed_events (organization_id, month);
alter table removed_events alter column organization_id set statistics 0;

create table event_archives (
  id uuid not null constraint event_archives_pkey primary key,
  organization_id uuid not null,
  month date not null,
  path text not null,
  events_count bigint not null,
  bytes bigint not null,
  sha256 text not null,
  events_sum text not null,
  created_at timestamptz not null,
  removed_at timestamptz
);
comment on table event_archives is
  'Files of the archive of events that were read back and compared: their events may be '
  'removed.';
comment on column event_archives.path is 'below EVENTS_ARCHIVE_URL';
comment on column event_archives.events_sum is
  'sum of the SHA-256 of each event, modulo 2^256: '
  'src/areas/usage/event-retention/archived-event.ts';
comment on column event_archives.removed_at is
  'when the last of its events was removed. Null: a removal was interrupted, and goes '
  'on';
create index event_archives_of_month on event_archives (organization_id, month);
create index event_archives_unfinished on event_archives (id) where removed_at is null;
alter table event_archives alter column organization_id set statistics 0;

create table restored_events (
  like events including defaults,
  constraint restored_events_pkey primary key (id)
);
comment on table restored_events is
  'Removed events that were brought back from the archive, for reads and verifications '
  'only.';
create index restored_events_of_subscription on restored_events
  (organization_id, external_subscription_id, code, "timestamp");
alter table restored_events alter column organization_id set statistics 0;
