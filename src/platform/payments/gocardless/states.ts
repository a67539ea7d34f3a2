import { paymentStatusOf } from '../status-words.ts';
import type { PaymentState } from '../words.ts';

/** When a debit counts as paid: with the payout, or when the banks have confirmed it, which may be taken back. */
export const SETTLES_ON = ['paid_out', 'confirmed'] as const;

/** Our state for a word of GoCardless, by a setting of the connection. Rule: provider-connections.md#gocardless. */
export function stateOf(word: string, settings: Readonly<Record<string, unknown>>): PaymentState {
  if (word === 'confirmed' && settings.settle_on === 'confirmed') return 'succeeded';
  const state = paymentStatusOf('gocardless', word);
  return state === 'pending' ? 'processing' : state;
}
