import type { Temporal } from 'temporal-polyfill';
import type { OrderType } from '../../../engine/quotes/quote-states.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { CustomerId, OrderFormId, OrderId } from '../../../platform/ids.ts';
import type { BillingItems } from '../quotes/billing-items/item-types.ts';
import type { ExecutionMode, ExecutionRecord } from './schema.ts';

/** Settings for the execution of an order. */
export const NOTHING_DONE: ExecutionRecord = {
  executed_at: null,
  execution_mode: null,
  invoice_id: null,
  subscription_ids: [],
  terminated_subscription_ids: [],
  applied_coupon_ids: [],
  wallet_ids: [],
  errors: [],
};

interface NewOrder {
  id: OrderId;
  customer_id: CustomerId;
  order_form_id: OrderFormId;
  number: string;
  order_type: OrderType;
  execution_mode: ExecutionMode | null;
  execute_at: string | null;
  currency: string | null;
  billing_snapshot: BillingItems | null;
}

export const insertOrder = ({ db, organizationId }: Scope, order: NewOrder, now: Temporal.Instant) => db`
  insert into orders (id, organization_id, customer_id, order_form_id, number, order_type, execution_mode, execute_at,
    currency, billing_snapshot, execution_record, created_at, updated_at)
  values (${order.id}, ${organizationId}, ${order.customer_id}, ${order.order_form_id}, ${order.number},
    ${order.order_type}, ${order.execution_mode}, ${order.execute_at}, ${order.currency},
    ${json(order.billing_snapshot)}::jsonb, ${json(NOTHING_DONE)}::jsonb, ${now}, ${now})`;

export const setExecutionMode = (
  { db, organizationId }: Scope,
  id: OrderId,
  { mode, now }: { mode: ExecutionMode; now: Temporal.Instant },
) => db`
  update orders set execution_mode = ${mode}, updated_at = ${now}
  where organization_id = ${organizationId} and id = ${id}`;

/** Stores how an execution ended. */
export const storeExecution = (
  { db, organizationId }: Scope,
  id: OrderId,
  { outcome, now }: { outcome: { status: 'executed' | 'failed'; record: ExecutionRecord }; now: Temporal.Instant },
) => db`
  update orders set status = ${outcome.status}, execution_record = ${json(outcome.record)}::jsonb,
    executed_at = ${outcome.status === 'executed' ? now : null}, updated_at = ${now}
  where organization_id = ${organizationId} and id = ${id}`;
