import type { BillingEntityId } from '../../platform/ids.ts';
import { announcement } from '../../platform/reactions.ts';
import type { PaymentRow } from './payments/queries.ts';

/** A payment that is to be receipted succeeded; the transaction holds the customer locked. */
export const paymentSucceeded = announcement<{ payment: PaymentRow; billing_entity_id: BillingEntityId }>(
  'payment.succeeded',
);
