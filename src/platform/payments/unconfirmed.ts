import type { ProviderError } from './port.ts';

/** How many days a customer has to confirm a charge. Rule: payments.md#charges-that-nobody-confirms. */
export const DAYS_TO_CONFIRM = 3;

export const NOT_CONFIRMED: ProviderError = {
  code: 'customer_action_expired',
  message: `The customer did not confirm the payment within ${DAYS_TO_CONFIRM} days.`,
};
