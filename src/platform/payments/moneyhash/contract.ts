import { contractProvider } from '../contract-provider.ts';

/** Rule: payments.md#providers. */
export const moneyhashContract = contractProvider({
  name: 'moneyhash',
  words: {
    payment: {
      processing: ['PENDING', 'PENDING_AUTHENTICATION', 'UNPROCESSED'],
      succeeded: ['SUCCESSFUL', 'PROCESSED'],
      failed: ['FAILED'],
    },
  },
  capabilities: ['customers', 'setup_page', 'off_session_charge', 'payment_page'],
  offersKindsOfMethod: false,
});
