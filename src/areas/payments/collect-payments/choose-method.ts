import type { Context } from '../../../platform/context.ts';
import type { CustomerId, PaymentMethodId } from '../../../platform/ids.ts';
import { findMethod, type MethodRow } from '../../customers/payment-methods/queries.ts';

export interface MethodWish {
  type: string | null;
  id: PaymentMethodId | null;
}

/**
 * The method that pays: the first one named by the wishes (`manual` means none), else the customer's default, also if
 * the named one was discarded since. Undefined means no automatic charge. Rule: payments.md#payment-methods.
 */
export async function chooseMethod(
  ctx: Context,
  customerId: CustomerId,
  wishes: readonly MethodWish[],
): Promise<MethodRow | undefined> {
  const wish = wishes.find(({ type, id }) => type === 'manual' || id !== null);
  if (wish?.type === 'manual') return undefined;
  const wished = wish?.id ? await findMethod(ctx, customerId, wish.id) : undefined;
  return wished ?? findMethod(ctx, customerId, null);
}
