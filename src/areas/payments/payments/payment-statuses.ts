export const PAYMENT_STATUSES = ['pending', 'processing', 'succeeded', 'failed'] as const;
/** Progress of a payment; `status` beside it is the provider's own word. Rule: payments.md#providers. */
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];
