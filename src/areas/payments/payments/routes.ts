import { type Operation, runsAsFlow } from '../../../platform/operation.ts';
import { PaymentDetails } from '../../credits/wallet-transactions/schema.ts';
import { CheckoutUrlEnvelope } from '../../customers/customers/answer-schema.ts';
import { makeCheckoutUrl, showCheckoutUrl } from './checkout-url.ts';
import { createPayment } from './commands.ts';
import { makePaymentUrl, showPaymentUrl } from './payment-url.ts';
import { listPaymentsOfCustomer, listPaymentsPage, showPayment } from './reads.ts';
import {
  CustomerPaymentsQuery,
  NoBody,
  PaymentCreate,
  PaymentEnvelope,
  PaymentList,
  PaymentRetry,
  PaymentsQuery,
  PaymentUrlEnvelope,
} from './schema.ts';
import { makeTopUpUrl, showTopUpUrl } from './top-up-url.ts';

const common = { permission: 'payment', tag: 'payments' } as const;

export const paymentOperations: Operation[] = [
  {
    ...common,
    name: 'createPayment',
    method: 'post',
    path: '/payments',
    summary: 'Record a payment made by hand',
    description:
      'For money that came another way. The invoice must be finalized, and the amount at most what is due of it.',
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
  {
    permission: 'invoice',
    tag: 'invoices',
    name: 'retryPayment',
    method: 'post',
    path: '/invoices/:svc_id/retry_payment',
    summary: 'Charge an invoice again',
    description: 'The invoice must still be due.',
    body: PaymentRetry,
    bodyOptional: true,
    answer: NoBody,
    kind: 'command',
    run: runsAsFlow,
  },
  {
    permission: 'invoice',
    tag: 'invoices',
    name: 'invoicePaymentUrl',
    method: 'post',
    path: '/invoices/:svc_id/payment_url',
    summary: 'Get a link where an invoice is paid',
    description: 'A page of the payment provider, which lives for a while.',
    answer: PaymentUrlEnvelope,
    kind: 'command',
    run: makePaymentUrl,
    settle: showPaymentUrl,
  },
  {
    permission: 'customer',
    tag: 'customers',
    name: 'generateCustomerCheckoutURL',
    method: 'post',
    path: '/customers/:external_id/checkout_url',
    summary: 'Get a link to the payment provider of a customer',
    answer: CheckoutUrlEnvelope,
    kind: 'command',
    run: makeCheckoutUrl,
    settle: showCheckoutUrl,
  },
  {
    permission: 'wallet_transaction',
    tag: 'wallets',
    kind: 'command',
    name: 'walletTransactionPaymentUrl',
    method: 'post',
    path: '/wallet_transactions/:svc_id/payment_url',
    summary: 'Generate the payment page of a top-up',
    bodyOptional: true,
    answer: PaymentDetails,
    run: makeTopUpUrl,
    settle: showTopUpUrl,
  },
];
