import { hash } from 'node:crypto';
import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { ExternalSubscriptionId, OrganizationId } from '../../../platform/ids.ts';

const HEX_DIGITS = 32;

/**
 * A text in the key of an event: the first 16 bytes of its SHA-256, as hex that Postgres reads as a uuid. Two texts
 * with one hash take 2^64 tries, and would be a conflict.
 * The same in SQL is `event_hash`. Rule: storing-events.md#keys.
 */
export const eventHash = (text: string): string => hash('sha256', text, 'hex').slice(0, HEX_DIGITS);

/**
 * SQL after `from`: the stored events `e` with a transaction id, live or not; of each subscription at most one. Those
 * that were brought back from the archive are among them. The limits keep Postgres from reading events in another way
 * than by their ids.
 */
export const eventsOfTransaction = (
  { db, organizationId }: Scope,
  transactionId: string,
  externalSubscriptionId?: ExternalSubscriptionId,
): Fragment => db`
  event_keys key
  cross join lateral (
    (select * from events
    where id = key.event_id and organization_id = ${organizationId} and transaction_id = ${transactionId} limit 1)
    union all
    (select * from restored_events
    where id = key.event_id and organization_id = ${organizationId} and transaction_id = ${transactionId} limit 1)
    limit 1) e
  where ${keyOfEvent(db, { organizationId, transactionId, externalSubscriptionId })}`;

/** The same event for an update: its id by the key, null if there is none. */
export const idOfEvent = (
  { db, organizationId }: Scope,
  transactionId: string,
  externalSubscriptionId: ExternalSubscriptionId,
): Fragment => db`
  (select key.event_id from event_keys key
    where ${keyOfEvent(db, { organizationId, transactionId, externalSubscriptionId })})`;

/** SQL of a row `key` of event_keys: whether it is that of a transaction id. */
export const keyOfEvent = (
  db: Db,
  key: {
    organizationId: OrganizationId;
    transactionId: string;
    externalSubscriptionId?: ExternalSubscriptionId | undefined;
  },
): Fragment => db`
  key.organization_id = ${key.organizationId} and key.transaction_hash = ${eventHash(key.transactionId)}::uuid
  ${
    key.externalSubscriptionId === undefined
      ? db``
      : db`and key.subscription_hash = ${eventHash(key.externalSubscriptionId)}::uuid`
  }`;
