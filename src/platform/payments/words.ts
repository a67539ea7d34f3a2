export type PaymentState = 'processing' | 'succeeded' | 'failed';
export type RefundState = 'pending' | 'succeeded' | 'failed';

/** A provider's words for our states, the usual one first. */
export interface Words {
  payment: Record<PaymentState, readonly string[]>;
  /** Absent: its words for refunds are ours. */
  refund?: Record<RefundState, readonly string[]>;
}
