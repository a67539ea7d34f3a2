-- Why: what an invoice counted is proven by a digest of its events. Kept with the rollups it costs a finalized invoice
-- nothing, however many events its window holds (beyond 6.1 `events_watermark`).
-- Locks: the rollup tables for an instant; no row is rewritten. Rollups that exist have no digest until their hour is
-- filled again: such windows are digested from their events, as far as those are few.
alter table usage_buckets add column digest numeric not null default 0;
alter table usage_buckets add column max_id uuid;
alter table usage_days add column digest numeric not null default 0;
alter table usage_days add column max_id uuid;
comment on column usage_buckets.digest is
  'sum over the events of 10^83 + the first 240 bits of a SHA-256: src/resources/usage-shapes/event-digest.ts';
comment on column usage_buckets.max_id is 'no event that was ever in here has a greater id';
comment on column usage_days.digest is 'sum of the digests of the hours of the day';
comment on column usage_days.max_id is 'greatest max_id of the hours of the day';
