import { createHash } from 'node:crypto';
import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { ExternalSubscriptionId } from '../../../platform/ids.ts';

/** An event as it is archived: every column as exact text. */
export interface ArchivedEvent {
  id: string;
  external_subscription_id: ExternalSubscriptionId;
  transaction_id: string;
  code: string;
  /** Microseconds since 1970, as are the other times. */
  timestamp: string;
  /** JSON text. */
  properties: string;
  /** With 15 decimals. */
  precise_total_amount_cents: string | null;
  /** Hex. */
  digest: string;
  user_agent: string | null;
  remote_address: string | null;
  version: number;
  deleted_at: string | null;
  created_at: string;
  /** Its earlier versions, a JSON list of rows of event_versions; null: it was never corrected. */
  former_versions: string | null;
}

const micros = (db: Db, at: Fragment): Fragment => db`(extract(epoch from ${at}) * 1000000)::bigint::text`;

/** The columns of an event `e`. */
export const archivedColumns = (db: Db): Fragment => db`
  e.id, e.external_subscription_id, e.transaction_id, e.code, ${micros(db, db`e.timestamp`)} as timestamp,
  e.properties::text as properties, e.precise_total_amount_cents::text as precise_total_amount_cents,
  encode(e.digest, 'hex') as digest, e.user_agent, e.remote_address, e.version,
  ${micros(db, db`e.deleted_at`)} as deleted_at, ${micros(db, db`e.created_at`)} as created_at,
  case when e.version > 1 then (
    select jsonb_agg(to_jsonb(former) order by former.version)::text from event_versions former
    where former.organization_id = e.organization_id and former.event_id = e.id
  ) end as former_versions`;

const MODULUS = 2n ** 256n;

/** How many events there are, with a sum that any change of any of them changes, whatever their order. */
export interface EventsSum {
  count: number;
  add(event: ArchivedEvent): void;
  /** Sum of the SHA-256 of each event, modulo 2^256, as hex. */
  text(): string;
}

export function sumEvents(): EventsSum {
  let sum = 0n;
  const events: EventsSum = {
    count: 0,
    add(event) {
      events.count += 1;
      const digest = createHash('sha256')
        .update(JSON.stringify(valuesOf(event)))
        .digest('hex');
      sum = (sum + BigInt(`0x${digest}`)) % MODULUS;
    },
    text: () => sum.toString(16).padStart(64, '0'),
  };
  return events;
}

/** In one order, whatever the order of the object. */
const valuesOf = (event: ArchivedEvent): unknown[] => [
  event.id,
  event.external_subscription_id,
  event.transaction_id,
  event.code,
  event.timestamp,
  event.properties,
  event.precise_total_amount_cents,
  event.digest,
  event.user_agent,
  event.remote_address,
  event.version,
  event.deleted_at,
  event.created_at,
  event.former_versions,
];
