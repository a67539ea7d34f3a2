import type { Temporal } from 'temporal-polyfill';
import type { Currency } from '../../../engine/money/currency.ts';
import type { OrderStatus, OrderType } from '../../../engine/quotes/quote-states.ts';
import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type {
  CustomerId,
  ExternalCustomerId,
  OrderFormId,
  OrderId,
  OrganizationId,
  QuoteId,
  QuoteVersionId,
  SubscriptionId,
} from '../../../platform/ids.ts';
import { isUuid } from '../../../platform/ids.ts';
import { countRecords, type Total } from '../../../platform/lists/count.ts';
import { containsPattern } from '../../../platform/lists/filters.ts';
import { limitOf } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';
import type { BillingItems } from '../quotes/billing-items/item-types.ts';
import { isOwned } from '../quotes/queries.ts';
import type { ExecutionMode, ExecutionRecord, OrdersQuery } from './schema.ts';

export interface OrderRow {
  id: OrderId;
  organization_id: OrganizationId;
  customer_id: CustomerId;
  external_customer_id: ExternalCustomerId;
  order_form_id: OrderFormId;
  quote_id: QuoteId;
  quote_version_id: QuoteVersionId;
  /** The subscription that an amendment changes. */
  subscription_id: SubscriptionId | null;
  number: string;
  status: OrderStatus;
  order_type: OrderType;
  execution_mode: ExecutionMode | null;
  execute_at: Temporal.Instant | null;
  currency: Currency | null;
  billing_snapshot: BillingItems | null;
  executed_at: Temporal.Instant | null;
  execution_record: ExecutionRecord;
  created_at: Temporal.Instant;
  updated_at: Temporal.Instant;
}

const columns = (db: Db) => db`
  purchase.id, purchase.organization_id, purchase.customer_id, customer.external_id as external_customer_id,
  purchase.order_form_id, form.quote_id, form.quote_version_id, quote.subscription_id, purchase.number,
  purchase.status, purchase.order_type, purchase.execution_mode, purchase.execute_at, purchase.currency,
  purchase.billing_snapshot, purchase.executed_at, purchase.execution_record, purchase.created_at, purchase.updated_at`;

// "order" is a keyword of SQL.
const tables = (db: Db) => db`
  orders purchase
  join order_forms form on form.organization_id = purchase.organization_id and form.id = purchase.order_form_id
  join quotes quote on quote.organization_id = form.organization_id and quote.id = form.quote_id
  join customers customer on customer.organization_id = purchase.organization_id
    and customer.id = purchase.customer_id`;

/**
 * The orders of a page with what is shown beside them. "offset 0" keeps the lookups apart: together, Postgres joins all
 * forms with all quotes for a page of unknown length.
 */
const shown = (db: Db, page: Fragment) => db`
  ${page} purchase
  cross join lateral (
    select quote_id, quote_version_id from order_forms
    where organization_id = purchase.organization_id and id = purchase.order_form_id offset 0) form
  cross join lateral (
    select subscription_id from quotes
    where organization_id = purchase.organization_id and id = form.quote_id offset 0) quote
  cross join lateral (
    select external_id from customers
    where organization_id = purchase.organization_id and id = purchase.customer_id offset 0) customer`;

/** @throws Refusal 404 order */
export async function getOrder({ db, organizationId }: Scope, id: OrderId): Promise<OrderRow> {
  const [row] = isUuid(id)
    ? await db<OrderRow[]>`
      select ${columns(db)} from ${tables(db)}
      where purchase.organization_id = ${organizationId} and purchase.id = ${id}`
    : [];
  if (!row) throw refuse.notFound('order');
  return row;
}

/** A page of orders, newest first, and how many there are. Rule: lists.md#filters-and-order. */
export async function listOrders(
  { db, organizationId }: Scope,
  query: OrdersQuery,
): Promise<{ rows: OrderRow[]; totalCount: Total }> {
  const { limit, offset } = limitOf(query);
  const passing = db`purchase.organization_id = ${organizationId}
    ${query.search_term ? db`and purchase.number ilike ${containsPattern(query.search_term)}` : db``}
    ${query.status ? db`and purchase.status = any (${query.status})` : db``}
    ${query.order_type ? db`and purchase.order_type = any (${query.order_type})` : db``}
    ${query.execution_mode ? db`and purchase.execution_mode = any (${query.execution_mode})` : db``}
    ${query.customer_id ? db`and purchase.customer_id = any (${query.customer_id.filter(isUuid)}::uuid[])` : db``}
    ${query.number ? db`and purchase.number = any (${query.number})` : db``}
    ${query.order_form_number ? db`and form.number = any (${query.order_form_number})` : db``}
    ${query.quote_number ? db`and quote.number = any (${query.quote_number})` : db``}
    ${query.owner_id ? db`and ${isOwned(db, query.owner_id)}` : db``}
    ${query.executed_at_from ? db`and purchase.executed_at >= ${query.executed_at_from}` : db``}
    ${query.executed_at_to ? db`and purchase.executed_at < ${query.executed_at_to}` : db``}`;
  // No table is joined but for a filter: Postgres would take a page for one row, which it finds by sorting all.
  const isJoined = query.order_form_number || query.quote_number || query.owner_id;
  const listed = isJoined ? tables(db) : db`orders purchase`;
  const page = db`(
    select purchase.* from ${listed} where ${passing}
    order by purchase.created_at desc, purchase.id desc
    limit ${limit} offset ${offset})`;
  const [rows, totalCount] = await Promise.all([
    db<OrderRow[]>`
      select ${columns(db)} from ${shown(db, page)} order by purchase.created_at desc, purchase.id desc`,
    countRecords(db, db`${listed} where ${passing}`),
  ]);
  return { rows, totalCount };
}
