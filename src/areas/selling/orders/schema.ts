import { z } from 'zod';
import { CURRENCIES } from '../../../engine/money/currency.ts';
import { ORDER_STATUSES, ORDER_TYPES } from '../../../engine/quotes/quote-states.ts';
import { listFilter, textFilter, wordsFilter } from '../../../platform/lists/filters.ts';
import { PageMeta, pageQuery } from '../../../platform/lists/pagination.ts';
import { fromFilter, untilFilter } from '../../../platform/lists/time-filters.ts';
import { oneOf } from '../../../platform/schema/fields.ts';
import { BillingItemsView, withoutRoot } from '../quotes/schema.ts';

/**
 * Whether an execution makes the records of the deal, or only records that they were made elsewhere. Rule:
 * quotes.md#execution.
 */
export const EXECUTION_MODES = ['execute_in_svc', 'order_only'] as const;
export type ExecutionMode = (typeof EXECUTION_MODES)[number];

/** Body of `POST /orders/{svc_id}/execute`; every field is optional. Rule: quotes.md#routes. */
export const OrderExecute = z
  .object({ order: z.object({ execution_mode: oneOf(EXECUTION_MODES).nullish() }).nullish() })
  .check(withoutRoot());
export type OrderExecute = z.infer<typeof OrderExecute>;

export const OrdersQuery = z.object({
  ...pageQuery,
  search_term: textFilter,
  status: wordsFilter(ORDER_STATUSES),
  order_type: wordsFilter(ORDER_TYPES),
  execution_mode: wordsFilter(EXECUTION_MODES),
  customer_id: listFilter,
  number: listFilter,
  order_form_number: listFilter,
  quote_number: listFilter,
  owner_id: listFilter,
  executed_at_from: fromFilter,
  executed_at_to: untilFilter,
});
export type OrdersQuery = z.infer<typeof OrdersQuery>;

const Instant = z.iso.datetime();
const Ids = z.array(z.uuid());

/** The records of the last execution, or why it created none. Rule: quotes.md#fields. */
const ExecutionRecord = z.object({
  executed_at: Instant.nullable(),
  execution_mode: z.enum(EXECUTION_MODES).nullable(),
  invoice_id: z.uuid().nullable(),
  subscription_ids: Ids,
  terminated_subscription_ids: Ids,
  applied_coupon_ids: Ids,
  wallet_ids: Ids,
  errors: z.array(z.string()),
});
export type ExecutionRecord = z.infer<typeof ExecutionRecord>;

const OrderObject = z.object({
  svc_id: z.uuid(),
  number: z.string(),
  status: z.enum(ORDER_STATUSES),
  order_type: z.enum(ORDER_TYPES),
  execution_mode: z.enum(EXECUTION_MODES).nullable(),
  currency: z.enum(CURRENCIES).nullable(),
  executed_at: Instant.nullable(),
  execution_record: ExecutionRecord,
  svc_organization_id: z.uuid(),
  svc_customer_id: z.uuid(),
  svc_order_form_id: z.uuid(),
  created_at: Instant,
  updated_at: Instant,
  billing_snapshot: BillingItemsView,
});
export const OrderEnvelope = z.object({ order: OrderObject });
export const OrderList = z.object({ orders: z.array(OrderObject), meta: PageMeta });
