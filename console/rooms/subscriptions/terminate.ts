import type { Offer } from '../../parts/offers.tsx';
import type { Subscription } from '../../parts/records.ts';

/** Ends a subscription at once; what it owes is billed. */
export const terminates = ({ external_id }: Subscription): Offer => ({
  text: 'Terminate',
  title: 'Terminate the subscription',
  needs: 'subscription',
  typed: external_id,
  about:
    'It ends now. Usage up to this moment is billed with a closing invoice, and what was paid in advance for the rest ' +
    'of the period is credited. This cannot be taken back.',
  command: () => ({ method: 'DELETE', path: `/subscriptions/${encodeURIComponent(external_id)}` }),
});
