import type { Temporal } from 'temporal-polyfill';
import { isAfter, isBefore } from '../../../engine/calendar/instants.ts';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { ChargeId, CustomerId, EventId, SubscriptionId } from '../../../platform/ids.ts';
import { isLive } from '../../usage/events/live-events.ts';
import type { BilledSubscription } from '../build-invoice/payer-and-issuer.ts';

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
    and ${isLive(db, db`event`)}
  order by event.id`;

/** Whether an event was billed under a charge before, by the records that it left: then it is not billed again. */
export function billedBefore(
  records: readonly { event_id: EventId; charge_id: ChargeId }[],
): (event: EventId, charge: ChargeId) => boolean {
  const billed = new Set(records.map(({ event_id, charge_id }) => `${event_id} ${charge_id}`));
  return (event, charge) => billed.has(`${event} ${charge}`);
}

/**
 * Whether a subscription was running at an instant, compared in milliseconds. Rule: events.md#subscription-of-an-event
 * (2).
 */
export function covers({ started_at, terminated_at }: BilledSubscription, at: Temporal.Instant): boolean {
  if (started_at === null || isBefore(at, milliseconds(started_at))) return false;
  return terminated_at === null || !isAfter(milliseconds(at), milliseconds(terminated_at));
}

const milliseconds = (instant: Temporal.Instant): Temporal.Instant =>
  instant.round({ smallestUnit: 'millisecond', roundingMode: 'floor' });

/** Customer of a subscription. */
export async function customerOf({ db, organizationId }: Scope, subscriptionId: SubscriptionId): Promise<string> {
  const [row] = await db<{ customer_id: CustomerId }[]>`
    select customer_id from subscriptions where organization_id = ${organizationId} and id = ${subscriptionId}`;
  return row!.customer_id;
}
