import type { Operation } from '../../platform/operation.ts';
import { createPayment } from './commands.ts';
import { listPaymentsOfCustomer, listPaymentsPage, showPayment } from './reads.ts';
import { CustomerPaymentsQuery, PaymentCreate, PaymentEnvelope, PaymentList, PaymentsQuery } from './schema.ts';

const common = { permission: 'payment', tag: 'payments' } as const;

export const paymentOperations: Operation[] = [
  {
    ...common,
    name: 'createPayment',
    method: 'post',
    path: '/payments',
    summary: 'Record a payment made by hand',
    root: 'payment',
    body: PaymentCreate,
    answer: PaymentEnvelope,
    kind: 'command',
    run: createPayment,
  },
  {
    ...common,
    name: 'findAllPayments',
    method: 'get',
    path: '/payments',
    summary: 'List all payments',
    query: PaymentsQuery,
    answer: PaymentList,
    kind: 'read',
    run: listPaymentsPage,
  },
  {
    ...common,
    name: 'findPayment',
    method: 'get',
    path: '/payments/:svc_id',
    summary: 'Retrieve a payment',
    answer: PaymentEnvelope,
    kind: 'read',
    run: showPayment,
  },
  {
    ...common,
    name: 'findAllCustomerPayments',
    method: 'get',
    path: '/customers/:external_id/payments',
    summary: 'List the payments of a customer',
    query: CustomerPaymentsQuery,
    answer: PaymentList,
    kind: 'read',
    run: listPaymentsOfCustomer,
  },
];
