import { contractProvider } from '../contract-provider.ts';

/** Rules: payments.md#providers, credit-notes.md#refunds. */
export const adyenContract = contractProvider({
  name: 'adyen',
  words: {
    payment: {
      processing: ['AuthorisedPending', 'Received'],
      succeeded: ['Authorised', 'SentForSettle', 'SettleScheduled', 'Settled', 'Refunded'],
      failed: ['Refused', 'Cancelled', 'CaptureFailed', 'Error', 'Expired'],
    },
  },
  capabilities: ['customers', 'setup_page', 'off_session_charge', 'payment_page', 'refund', 'partial_refund', 'cancel'],
  offersKindsOfMethod: false,
});
