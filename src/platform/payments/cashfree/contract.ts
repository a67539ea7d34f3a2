import { contractProvider } from '../contract-provider.ts';

/** Rule: payments.md#providers. */
export const cashfreeContract = contractProvider({
  name: 'cashfree',
  words: { payment: { processing: ['PARTIALLY_PAID'], succeeded: ['PAID'], failed: ['EXPIRED', 'CANCELLED'] } },
  capabilities: ['payment_page'],
  offersKindsOfMethod: false,
});
