import type { Context } from '../../../platform/context.ts';
import { pageMeta } from '../../../platform/lists/pagination.ts';
import { type Operation, runsAsFlow } from '../../../platform/operation.ts';
import { getOrder, listOrders } from './queries.ts';
import { OrderEnvelope, OrderExecute, OrderList, OrdersQuery } from './schema.ts';
import { orderExtendedView } from './view.ts';

const common = { permission: 'order', tag: 'orders', answer: OrderEnvelope } as const;

export const orderOperations: Operation[] = [
  {
    ...common,
    name: 'findAllOrders',
    method: 'get',
    path: '/orders',
    summary: 'List all orders',
    query: OrdersQuery,
    answer: OrderList,
    kind: 'read',
    run: listPage,
  },
  {
    ...common,
    name: 'findOrder',
    method: 'get',
    path: '/orders/:svc_id',
    summary: 'Retrieve an order',
    kind: 'read',
    run: show,
  },
  {
    ...common,
    name: 'executeOrder',
    method: 'post',
    path: '/orders/:svc_id/execute',
    summary: 'Execute an order',
    description: 'What was agreed is made: subscriptions, coupons, invoices.',
    body: OrderExecute,
    bodyOptional: true,
    kind: 'command',
    run: runsAsFlow,
  },
];

async function listPage(ctx: Context, { query }: { query: OrdersQuery }) {
  const { rows, totalCount } = await listOrders(ctx, query);
  return { orders: rows.map(orderExtendedView), meta: pageMeta(query, totalCount) };
}

async function show(ctx: Context, { svc_id }: { svc_id: string }) {
  return { order: orderExtendedView(await getOrder(ctx, svc_id)) };
}
