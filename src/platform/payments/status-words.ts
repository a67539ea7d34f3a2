import { contractOf, isContractProvider } from './contract-providers.ts';
import type { PaymentState, RefundState, Words } from './words.ts';

const wordsOf = (provider: string): Words | undefined =>
  isContractProvider(provider) ? contractOf(provider).words : undefined;

const OURS: readonly string[] = ['pending', 'processing', 'succeeded', 'failed'];

/**
 * Our state for a provider's word. An unlisted word is used if it is one of ours; otherwise the payment stays
 * `processing`. Rule: payments.md#providers.
 */
export function paymentStatusOf(provider: string, word: string): 'pending' | PaymentState {
  for (const [status, words] of Object.entries(wordsOf(provider)?.payment ?? {})) {
    if (words.includes(word)) return status as PaymentState;
  }
  return OURS.includes(word) ? (word as PaymentState) : 'processing';
}

/** The usual word of a provider for one of our states. */
export const wordOf = (provider: string, status: PaymentState): string =>
  wordsOf(provider)?.payment[status][0] ?? status;

const REFUND_STATES: readonly RefundState[] = ['pending', 'succeeded', 'failed'];

/**
 * Our state for a provider's word of a refund; an unlisted word leaves it `pending`.
 * Rule: credit-notes.md#refunds.
 */
export function refundStatusOf(provider: string, word: string): RefundState {
  const words = wordsOf(provider)?.refund;
  return REFUND_STATES.find((status) => (words ? words[status].includes(word) : status === word)) ?? 'pending';
}

/** The usual word of a provider for one of our states of a refund. */
export const refundWordOf = (provider: string, status: RefundState): string =>
  wordsOf(provider)?.refund?.[status][0] ?? status;
