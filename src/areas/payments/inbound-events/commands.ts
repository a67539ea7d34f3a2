import type { Context } from '../../../platform/context.ts';
import { pageMeta } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';
import { seconds } from '../../../platform/schema/view.ts';
import { getInboundEvent, type InboundEventRow, listInboundEvents } from './queries.ts';
import type { InboundEventsQuery, InboundEventView } from './schema.ts';
import { HANDLE_STEP } from './store-inbound-event.ts';

export async function listInboundEventsPage(ctx: Context, { query }: { query: InboundEventsQuery }) {
  const { rows, totalCount } = await listInboundEvents(ctx, query);
  return { inbound_events: rows.map(view), meta: pageMeta(query, totalCount) };
}

/** @throws Refusal 404 inbound_event */
export async function showInboundEvent(ctx: Context, { svc_id }: { svc_id: string }) {
  const row = await getInboundEvent(ctx, svc_id);
  return { inbound_event: { ...view(row), payload: row.payload } };
}

/**
 * Handles an event again whose attempts are used up; one with attempts left is only left to them.
 *
 * @throws Refusal 404 inbound_event; 405 invalid_status, when it has been handled
 * Rule: other-routes.md#records.
 */
export async function retryInboundEvent(ctx: Context, { svc_id }: { svc_id: string }) {
  const { db, organizationId } = ctx;
  const { id } = await getInboundEvent(ctx, svc_id);
  // The step is locked before the event, in the same order as the handler.
  await db`
    delete from after_steps
    where organization_id = ${organizationId} and job = ${HANDLE_STEP} and payload ->> 'inbound_event_id' = ${id}
      and failed_at is not null`;
  const [event] = await db<{ status: string }[]>`
    select status from inbound_events where organization_id = ${organizationId} and id = ${id} for update`;
  if (event?.status === 'succeeded') throw refuse.notAllowed('invalid_status');
  const owed = await db`
    select from after_steps
    where organization_id = ${organizationId} and job = ${HANDLE_STEP} and payload ->> 'inbound_event_id' = ${id}`;
  if (owed.length === 0) ctx.after({ step: HANDLE_STEP, payload: { inbound_event_id: id } });
  return showInboundEvent(ctx, { svc_id: id });
}

const view = (row: InboundEventRow): InboundEventView => ({
  svc_id: row.id,
  payment_provider_code: row.provider_code,
  payment_provider_type: row.provider_type,
  provider_event_id: row.provider_event_id,
  type: row.event_type,
  status: row.status,
  attempts: row.attempts,
  error: row.error,
  created_at: seconds(row.created_at),
  updated_at: seconds(row.updated_at),
});
