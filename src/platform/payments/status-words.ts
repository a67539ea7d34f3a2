type Known = 'processing' | 'succeeded' | 'failed';

/** Each provider's words for the states of a payment, the usual one first. Rule: payments.md#providers. */
const WORDS: Record<string, Record<Known, readonly string[]>> = {
  stripe: {
    processing: ['processing', 'requires_capture', 'requires_action', 'requires_confirmation'],
    succeeded: ['succeeded'],
    failed: ['requires_payment_method', 'canceled'],
  },
  gocardless: {
    processing: ['pending_submission', 'pending_customer_approval', 'submitted', 'confirmed'],
    succeeded: ['paid_out'],
    failed: ['failed', 'cancelled', 'customer_approval_denied', 'charged_back'],
  },
  adyen: {
    processing: ['AuthorisedPending', 'Received'],
    succeeded: ['Authorised', 'SentForSettle', 'SettleScheduled', 'Settled', 'Refunded'],
    failed: ['Refused', 'Cancelled', 'CaptureFailed', 'Error', 'Expired'],
  },
  cashfree: { processing: ['PARTIALLY_PAID'], succeeded: ['PAID'], failed: ['EXPIRED', 'CANCELLED'] },
  flutterwave: { processing: ['pending'], succeeded: ['successful'], failed: ['failed', 'cancelled'] },
  moneyhash: {
    processing: ['PENDING', 'PENDING_AUTHENTICATION', 'UNPROCESSED'],
    succeeded: ['SUCCESSFUL', 'PROCESSED'],
    failed: ['FAILED'],
  },
};

const OURS: readonly string[] = ['pending', 'processing', 'succeeded', 'failed'];

/**
 * Our state for a provider's word. An unlisted word is used if it is one of ours; otherwise the payment stays
 * `processing`. Rule: payments.md#providers.
 */
export function paymentStatusOf(provider: string, word: string): 'pending' | Known {
  for (const [status, words] of Object.entries(WORDS[provider] ?? {})) {
    if (words.includes(word)) return status as Known;
  }
  return OURS.includes(word) ? (word as Known) : 'processing';
}

/** The usual word of a provider for one of our states. */
export const wordOf = (provider: string, status: Known): string => WORDS[provider]?.[status][0] ?? status;

type Refunded = 'pending' | 'succeeded' | 'failed';

/** Each provider's words for the states of a refund, the usual one first. Rule: credit-notes.md#refunds. */
const REFUND_WORDS: Record<string, Record<Refunded, readonly string[]>> = {
  stripe: { pending: ['pending', 'requires_action'], succeeded: ['succeeded'], failed: ['failed', 'canceled'] },
  gocardless: {
    pending: ['created', 'pending_submission', 'submitted', 'refund_settled'],
    succeeded: ['paid'],
    failed: ['failed', 'cancelled', 'bounced', 'funds_returned'],
  },
};

/**
 * Our state for a provider's word of a refund; an unlisted word leaves it `pending`.
 * Rule: credit-notes.md#refunds.
 */
export function refundStatusOf(provider: string, word: string): Refunded {
  const words = REFUND_WORDS[provider];
  return REFUND_STATES.find((status) => (words ? words[status].includes(word) : status === word)) ?? 'pending';
}

const REFUND_STATES: readonly Refunded[] = ['pending', 'succeeded', 'failed'];

/** The usual word of a provider for one of our states of a refund. */
export const refundWordOf = (provider: string, status: Refunded): string =>
  REFUND_WORDS[provider]?.[status][0] ?? status;
