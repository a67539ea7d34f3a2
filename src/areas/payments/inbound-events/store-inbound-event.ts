import type { Context } from '../../../platform/context.ts';
import { json } from '../../../platform/db/values.ts';
import { newId } from '../../../platform/ids.ts';
import { redactedEvent } from '../../../platform/payments/redact-event.ts';

/** Handles an event of a provider, once. */
export const HANDLE_STEP = 'handle-provider-event';

/**
 * Stores an event of a provider before it is handled, without numbers of cards and accounts; a repeated one is
 * recognised by its id and ignored.
 *
 * @returns whether it is new
 * Rules: payments.md#providers, provider-connections.md#inbound-events, provider-connections.md#redaction.
 */
export async function storeInboundEvent(
  ctx: Context,
  event: {
    connectionId: string;
    providerEventId: string;
    type: string;
    payload: object;
    /** Other connections whose secret signs it. */
    alsoSignedBy?: readonly string[];
  },
): Promise<boolean> {
  const id = newId();
  const others = [...(event.alsoSignedBy ?? [])];
  const stored = await ctx.db`
    insert into inbound_events (id, organization_id, connection_id, provider_event_id, event_type, payload,
      also_signed_by, created_at, updated_at)
    values (${id}, ${ctx.organizationId}, ${event.connectionId}, ${event.providerEventId}, ${event.type},
      ${json(redactedEvent(event.payload))}, ${others.length === 0 ? null : others}::uuid[],
      ${ctx.now()}, ${ctx.now()})
    on conflict do nothing returning id`;
  if (stored.length === 0) return false;
  ctx.after({ step: HANDLE_STEP, payload: { inbound_event_id: id } });
  return true;
}
