export const PAYMENT_STATUSES = ['pending', 'processing', 'succeeded', 'failed'] as const;
/** How far a payment got; `status` beside it is the provider's own word. Rule: credits-and-payments E.1. */
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];
