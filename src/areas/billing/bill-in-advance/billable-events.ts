import type { Temporal } from 'temporal-polyfill';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { CustomerId, EventId, SubscriptionId } from '../../../platform/ids.ts';

/** A stored event that a charge paid in advance may bill. */
export interface BillableEvent {
  id: EventId;
  transaction_id: string;
  code: string;
  timestamp: Temporal.Instant;
  /** When it was accepted. */
  created_at: Temporal.Instant;
  precise_total_amount_cents: Decimal | null;
  /** Texts of its properties. */
  texts: Record<string, string | null>;
}

/** Live events in the order of their arrival. */
export const listBillableEvents = ({ db, organizationId }: Scope, ids: readonly EventId[]) => db<BillableEvent[]>`
  select event.id, event.transaction_id, event.code, event.timestamp, event.created_at,
    event.precise_total_amount_cents,
    (select coalesce(jsonb_object_agg(property.key, property.value), '{}')
      from jsonb_each_text(event.properties) property)
      as texts
  from events event
  where event.organization_id = ${organizationId} and event.id = any (${ids}::uuid[])
    and event.deleted_at is null
  order by event.id`;

/** Customer of a subscription. */
export async function customerOf({ db, organizationId }: Scope, subscriptionId: SubscriptionId): Promise<string> {
  const [row] = await db<{ customer_id: CustomerId }[]>`
    select customer_id from subscriptions where organization_id = ${organizationId} and id = ${subscriptionId}`;
  return row!.customer_id;
}
