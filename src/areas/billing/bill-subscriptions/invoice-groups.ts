import type { BillingEntityId, PaymentMethodId } from '../../../platform/ids.ts';
/** The fields that decide which subscriptions share an invoice; structural: a due subscription can be passed. */
export interface Consolidated {
  id: string;
  payment_method_type: string | null;
  payment_method_id: PaymentMethodId | null;
  amount_currency: string;
  billing_entity_id: BillingEntityId | null;
  consolidate_invoice: boolean;
  purchase_order_number: string | null;
}

/**
 * Splits the subscriptions of one customer that are due together into groups of one invoice each: by payment method,
 * currency, billing entity and purchase order; a subscription without consolidation is a group of its own. Groups come
 * in order of first appearance.
 *
 * Rule: subscriptions.md#consolidation.
 */
export function invoiceGroups<Subscription extends Consolidated>(
  subscriptions: readonly Subscription[],
  homeEntityId: BillingEntityId,
): Subscription[][] {
  const groups = new Map<string, Subscription[]>();
  for (const subscription of subscriptions) {
    const key = JSON.stringify([
      paymentMethodOf(subscription),
      subscription.amount_currency,
      subscription.billing_entity_id ?? homeEntityId,
      subscription.consolidate_invoice ? null : subscription.id,
      subscription.purchase_order_number,
    ]);
    groups.set(key, [...(groups.get(key) ?? []), subscription]);
  }
  return [...groups.values()];
}

/** The named payment method, `manual`, or the customer's default one. */
const paymentMethodOf = ({ payment_method_type: type, payment_method_id: id }: Consolidated): string =>
  type === 'manual' ? 'manual' : (id ?? 'default');
