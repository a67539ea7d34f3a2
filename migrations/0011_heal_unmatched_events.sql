-- Why: healing looks up the open unmatched events of a metric's code or of a subscription's external id in pages
-- (beyond 3.2), and the hourly check of events remembers how far it has come (usage-and-charges A.10).
-- Locks: unmatched_events against writing while its indexes are built; small before the first release.
create index unmatched_events_open_code on unmatched_events (organization_id, code, event_id) where status = 'open';
create index unmatched_events_open_subscription on unmatched_events (organization_id, external_subscription_id, event_id)
  where status = 'open';
create index unmatched_events_newest on unmatched_events (organization_id, status, first_seen_at desc, event_id desc);

create table event_checks (
  organization_id uuid primary key,
  -- end of the last full hour whose events were checked
  checked_until timestamptz not null
);

-- Answers of more than 1 MiB keep only the ids of their records, which a replay reads again (beyond 2).
alter table idempotency_keys add column is_digest boolean not null default false;
