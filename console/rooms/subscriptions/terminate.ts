import type { Offer } from '../../parts/offers.tsx';
import type { Subscription } from '../../parts/records.ts';
import { t } from '../../texts/en.ts';

/** Ends a subscription at once; what it owes is billed. */
export const terminates = ({ external_id }: Subscription): Offer => ({
  text: t.subscriptions.terminate,
  title: t.subscriptions.terminateTitle,
  needs: 'subscription',
  typed: external_id,
  about: t.subscriptions.terminateAbout,
  command: () => ({ method: 'DELETE', path: `/subscriptions/${encodeURIComponent(external_id)}` }),
});
