import { contractProvider } from '../contract-provider.ts';

/** Rule: payments.md#providers. */
export const flutterwaveContract = contractProvider({
  name: 'flutterwave',
  words: { payment: { processing: ['pending'], succeeded: ['successful'], failed: ['failed', 'cancelled'] } },
  capabilities: ['payment_page'],
  offersKindsOfMethod: false,
});
