import type { Context } from '../../../platform/context.ts';
import { pageMeta } from '../../../platform/lists/pagination.ts';
import { type Operation, runsAsFlow } from '../../../platform/operation.ts';
import { getCustomer } from '../customers/queries.ts';
import { createMethod, deleteMethod, setDefaultMethod } from './commands.ts';
import { listMethods } from './queries.ts';
import { MethodCreate, MethodEnvelope, MethodList, MethodsImport, MethodsQuery } from './schema.ts';
import { methodView } from './view.ts';

const common = { permission: 'payment_method', tag: 'payment_methods', answer: MethodEnvelope } as const;

/** @throws Refusal 404 customer */
async function listMethodsPage(ctx: Context, { external_id, query }: { external_id: string; query: MethodsQuery }) {
  const customer = await getCustomer(ctx, external_id);
  const { rows, totalCount } = await listMethods(ctx, customer.id, query);
  return { payment_methods: rows.map(methodView), meta: pageMeta(query, totalCount) };
}

export const paymentMethodOperations: Operation[] = [
  {
    ...common,
    name: 'findAllCustomersPaymentMethods',
    method: 'get',
    path: '/customers/:external_id/payment_methods',
    summary: 'List the payment methods of a customer',
    query: MethodsQuery,
    answer: MethodList,
    kind: 'read',
    run: listMethodsPage,
  },
  {
    ...common,
    name: 'createPaymentMethod',
    method: 'post',
    path: '/customers/:external_id/payment_methods',
    summary: 'Store a test method of a customer (sandbox connections)',
    root: 'payment_method',
    body: MethodCreate,
    kind: 'command',
    run: createMethod,
  },
  {
    ...common,
    name: 'importCustomerPaymentMethods',
    method: 'post',
    path: '/customers/:external_id/payment_methods/import',
    summary: 'Read the payment methods that a customer has at its provider',
    description: 'Methods that are gone there are removed here.',
    answer: MethodsImport,
    kind: 'command',
    asks: () => true,
    run: runsAsFlow,
  },
  {
    ...common,
    name: 'paymentMethodSetAsDefault',
    method: 'put',
    path: '/customers/:external_id/payment_methods/:svc_id/set_as_default',
    summary: 'Make a payment method the default one',
    kind: 'command',
    run: setDefaultMethod,
  },
  {
    ...common,
    name: 'destroyPaymentMethod',
    method: 'delete',
    path: '/customers/:external_id/payment_methods/:svc_id',
    summary: 'Delete a payment method',
    kind: 'command',
    run: deleteMethod,
  },
];
