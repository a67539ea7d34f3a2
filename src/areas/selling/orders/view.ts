import { seconds, secondsOrNull } from '../../../platform/schema/view.ts';
import type { OrderRow } from './queries.ts';

/** An order as webhooks show it. Rule: quotes.md#fields. */
export const orderView = (order: OrderRow) => ({
  svc_id: order.id,
  number: order.number,
  status: order.status,
  order_type: order.order_type,
  execution_mode: order.execution_mode,
  currency: order.currency,
  executed_at: secondsOrNull(order.executed_at),
  execution_record: order.execution_record,
  svc_organization_id: order.organization_id,
  svc_customer_id: order.customer_id,
  svc_order_form_id: order.order_form_id,
  created_at: seconds(order.created_at),
  updated_at: seconds(order.updated_at),
});

/** An order as answers show it. Rule: quotes.md#fields. */
export const orderExtendedView = (order: OrderRow) => ({
  ...orderView(order),
  billing_snapshot: order.billing_snapshot,
});
