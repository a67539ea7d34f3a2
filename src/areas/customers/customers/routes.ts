import type { Operation } from '../../../platform/operation.ts';
import { CustomerEnvelope, CustomerList, PortalUrlEnvelope } from './answer-schema.ts';
import { deleteCustomer, upsertCustomer } from './commands.ts';
import { listCustomersPage, showCustomer, showPortalUrl } from './reads.ts';
import { CustomerInput, CustomerListQuery, PortalUrlQuery } from './schema.ts';

const common = { permission: 'customer', tag: 'customers' } as const;

export const customerOperations: Operation[] = [
  {
    ...common,
    name: 'createCustomer',
    method: 'post',
    path: '/customers',
    summary: 'Create a customer, or update the one of the same external id',
    description:
      'The `external_id` is yours; sent again, it changes the customer. Fields that are left out keep their values.',
    root: 'customer',
    body: CustomerInput,
    answer: CustomerEnvelope,
    kind: 'command',
    run: upsertCustomer,
    asks: ({ body }) =>
      body.billing_configuration?.sync === true && body.billing_configuration.sync_with_provider === true,
  },
  {
    ...common,
    name: 'findAllCustomers',
    method: 'get',
    path: '/customers',
    summary: 'List all customers',
    query: CustomerListQuery,
    answer: CustomerList,
    kind: 'read',
    run: listCustomersPage,
  },
  {
    ...common,
    name: 'findCustomer',
    method: 'get',
    path: '/customers/:external_id',
    summary: 'Retrieve a customer',
    answer: CustomerEnvelope,
    kind: 'read',
    run: showCustomer,
  },
  {
    ...common,
    name: 'destroyCustomer',
    method: 'delete',
    path: '/customers/:external_id',
    summary: 'Delete a customer',
    description: 'Subscriptions, coupons and wallets of the customer end at once. Invoices stay.',
    answer: CustomerEnvelope,
    kind: 'command',
    run: deleteCustomer,
  },
  {
    ...common,
    name: 'getCustomerPortalUrl',
    fresh: true,
    method: 'get',
    path: '/customers/:external_id/portal_url',
    summary: 'Get a link to the pages of a customer',
    description:
      'Whoever has the link sees and pays what is due, so hand it to the customer alone. It expires; make a new one whenever it is asked for.',
    query: PortalUrlQuery,
    answer: PortalUrlEnvelope,
    kind: 'read',
    run: showPortalUrl,
  },
];
