import { CAPABILITIES } from '../capabilities.ts';
import { contractProvider } from '../contract-provider.ts';

/** Rules: payments.md#providers, credit-notes.md#refunds. */
export const stripeContract = contractProvider({
  name: 'stripe',
  words: {
    payment: {
      processing: ['processing', 'requires_capture', 'requires_action', 'requires_confirmation'],
      succeeded: ['succeeded'],
      failed: ['requires_payment_method', 'canceled'],
    },
    refund: { pending: ['pending', 'requires_action'], succeeded: ['succeeded'], failed: ['failed', 'canceled'] },
  },
  capabilities: CAPABILITIES,
  offersKindsOfMethod: true,
});
