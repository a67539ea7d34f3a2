import type { Context } from '../../../platform/context.ts';
import type { RequestRow } from './queries.ts';
import { showRequest } from './show-request.ts';

/**
 * Announces the state of a payment request; its creation is also recorded in the audit trail. Rules:
 * webhooks.md#event-types, logs.md#activity-logs.
 */
export async function recordRequest(
  ctx: Context,
  type: 'payment_request.created' | 'payment_request.payment_status_updated',
  request: RequestRow,
): Promise<void> {
  const object = await showRequest(ctx, request);
  if (type === 'payment_request.created')
    ctx.record({
      activity: {
        type,
        resourceType: 'PaymentRequest',
        resourceId: request.id,
        object,
        externalCustomerId: object.customer.external_id,
      },
    });
  ctx.record({
    webhook: {
      type,
      objectType: 'payment_request',
      objectId: request.id,
      customerId: request.customer_id,
      object,
    },
  });
}
