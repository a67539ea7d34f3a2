import { contractProvider } from '../contract-provider.ts';

/** Rules: payments.md#providers, credit-notes.md#refunds. */
export const gocardlessContract = contractProvider({
  name: 'gocardless',
  words: {
    payment: {
      processing: ['pending_submission', 'pending_customer_approval', 'submitted', 'confirmed'],
      succeeded: ['paid_out'],
      failed: ['failed', 'cancelled', 'customer_approval_denied', 'charged_back'],
    },
    refund: {
      pending: ['created', 'pending_submission', 'submitted', 'refund_settled'],
      succeeded: ['paid'],
      failed: ['failed', 'cancelled', 'bounced', 'funds_returned'],
    },
  },
  capabilities: [
    'customers',
    'setup_page',
    'off_session_charge',
    'refund',
    'partial_refund',
    'cancel',
    'list',
    'read',
    'mandate',
  ],
  offersKindsOfMethod: false,
});
