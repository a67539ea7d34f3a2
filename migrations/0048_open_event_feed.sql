-- Why: the event feed and replay (beyond 10), and two keys of a signature while one takes over from the other (platform G.7).
-- Locks: the three tables for an instant each, since new columns without a computed default rewrite nothing.

-- Events before `first` are kept for their deliveries alone: the feed does not show them any more.
alter table feed_heads add column first bigint not null default 1;

-- The replay that made a delivery; null for those of the event's own transaction.
alter table webhook_deliveries add column replay_id uuid;
create index webhook_deliveries_replay on webhook_deliveries (replay_id) where replay_id is not null;

-- Signs in place of `hmac_key` until the overlap of a rotation ends, in real time.
alter table organizations add column former_hmac_key text, add column former_hmac_key_expires_at timestamptz;
