import type { Context } from '../../../platform/context.ts';
import { pageMeta } from '../../../platform/lists/pagination.ts';
import type { Operation } from '../../../platform/operation.ts';
import { markOrderFormAsSigned, voidOrderForm } from './commands.ts';
import { getOrderForm, listOrderForms } from './queries.ts';
import { OrderFormEnvelope, OrderFormList, OrderFormSign, OrderFormsQuery } from './schema.ts';
import { SIGN_BODY_LIMIT_BYTES } from './signed-document.ts';
import { showOrderForm, showOrderForms } from './view.ts';

const common = { permission: 'order_form', tag: 'order_forms', answer: OrderFormEnvelope } as const;

export const orderFormOperations: Operation[] = [
  {
    ...common,
    name: 'findAllOrderForms',
    method: 'get',
    path: '/order_forms',
    summary: 'List all order forms',
    query: OrderFormsQuery,
    answer: OrderFormList,
    kind: 'read',
    run: listPage,
  },
  {
    ...common,
    name: 'findOrderForm',
    method: 'get',
    path: '/order_forms/:svc_id',
    summary: 'Retrieve an order form',
    kind: 'read',
    run: show,
  },
  {
    ...common,
    name: 'markOrderFormAsSigned',
    method: 'post',
    path: '/order_forms/:svc_id/mark_as_signed',
    summary: 'Note that an order form was signed',
    body: OrderFormSign,
    bodyOptional: true,
    bodyLimitBytes: SIGN_BODY_LIMIT_BYTES,
    kind: 'command',
    run: markOrderFormAsSigned,
  },
  {
    ...common,
    name: 'voidOrderForm',
    method: 'post',
    path: '/order_forms/:svc_id/void',
    summary: 'Void an order form',
    kind: 'command',
    run: voidOrderForm,
  },
];

async function listPage(ctx: Context, { query }: { query: OrderFormsQuery }) {
  const { rows, totalCount } = await listOrderForms(ctx, query);
  return { order_forms: await showOrderForms(ctx, rows), meta: pageMeta(query, totalCount) };
}

async function show(ctx: Context, { svc_id }: { svc_id: string }) {
  return { order_form: await showOrderForm(ctx, await getOrderForm(ctx, svc_id)) };
}
