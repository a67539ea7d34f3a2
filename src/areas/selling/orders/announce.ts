import type { Context } from '../../../platform/context.ts';
import type { OrderId } from '../../../platform/ids.ts';
import { getOrder, type OrderRow } from './queries.ts';
import { orderView } from './view.ts';

/**
 * Writes an order's state into the audit trail and sends its webhook. Rules: webhooks.md#event-types,
 * logs.md#activity-logs.
 */
export async function recordOrder(
  ctx: Context,
  type: 'order.created' | 'order.executed',
  id: OrderId,
): Promise<OrderRow> {
  const order = await getOrder(ctx, id);
  const object = orderView(order);
  ctx.record({
    activity: {
      type,
      resourceType: 'Order',
      resourceId: id,
      object,
      externalCustomerId: order.external_customer_id,
    },
    webhook: { type, objectType: 'order', objectId: id, customerId: order.customer_id, object },
  });
  return order;
}
