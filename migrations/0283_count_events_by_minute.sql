-- Why: how many events arrive, match, repeat and are refused is read from sums, never from events (event-volume.md).
-- Locks: none; new tables.

create table event_volumes (
  -- without a reference, as events
  organization_id uuid not null,
  -- real time of reception
  minute timestamptz not null,
  code text not null,
  lane smallint not null,
  stored bigint not null,
  unmatched bigint not null,
  replayed bigint not null,
  rejected bigint not null,
  constraint event_volumes_pkey primary key (organization_id, minute, code, lane)
);
comment on table event_volumes is 'Events by the minute of their reception and by code, for two days.';
comment on column event_volumes.code is 'empty for events without a live metric, and for what is not stored';
comment on column event_volumes.lane is '0 to 7: processes that write at the same time do not wait for one row';
comment on column event_volumes.stored is 'each event once, those that nothing bills included';
alter table event_volumes alter column organization_id set statistics 0;
create index event_volumes_minute on event_volumes (minute);

create table event_volume_hours (
  organization_id uuid not null,
  hour timestamptz not null,
  code text not null,
  stored bigint not null,
  unmatched bigint not null,
  replayed bigint not null,
  rejected bigint not null,
  constraint event_volume_hours_pkey primary key (organization_id, hour, code)
);
comment on table event_volume_hours is 'The sums of event_volumes by hour, of hours that are over.';
alter table event_volume_hours alter column organization_id set statistics 0;
create index event_volume_hours_hour on event_volume_hours (hour);
