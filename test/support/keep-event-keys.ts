import type { Sql } from '../../src/platform/db/connect.ts';

/** Keeps the keys of events that a test has inserted by itself, as the storing statement does. */
export const keepEventKeys = (sql: Sql) => sql`
  insert into event_keys (organization_id, transaction_hash, subscription_hash, digest, event_timestamp, event_id)
  select organization_id, event_hash(transaction_id), event_hash(external_subscription_id), event_digest(digest),
    timestamp, id
  from events on conflict do nothing`;
