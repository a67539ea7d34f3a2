import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { PaymentMethodId } from '../../../platform/ids.ts';

/** How an invoice or subscription is to be paid: `manual` means by hand; without a method the customer's default. */
export interface MethodWish {
  type: string | null;
  id: PaymentMethodId | null;
}

/** Column: the wishes of `invoice`, its own before that of its first subscription; null stands for no subscription. */
export const wishesOfInvoice = (db: Db): Fragment => db`
  jsonb_build_array(
    jsonb_build_object('type', invoice.payment_method_type, 'id', invoice.payment_method_id),
    (select jsonb_build_object('type', subscription.payment_method_type, 'id', subscription.payment_method_id)
     from invoice_subscriptions line
     join subscriptions subscription
       on subscription.organization_id = line.organization_id and subscription.id = line.subscription_id
     where line.organization_id = invoice.organization_id and line.invoice_id = invoice.id
     order by line.id limit 1))`;

/** The wish that counts: the first that names something. */
export const firstWish = (wishes: readonly (MethodWish | null)[]): MethodWish | undefined =>
  wishes.find((wish): wish is MethodWish => wish !== null && (wish.type === 'manual' || wish.id !== null));
