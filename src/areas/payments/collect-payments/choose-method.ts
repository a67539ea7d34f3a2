import type { Context } from '../../../platform/context.ts';
import type { CustomerId } from '../../../platform/ids.ts';
import { can } from '../../../platform/payments/providers.ts';
import { findMethod, type MethodRow } from '../../customers/payment-methods/queries.ts';
import { findProviderById } from '../../customers/payment-providers/queries.ts';
import { firstWish, type MethodWish } from './wishes-of-invoice.ts';

/**
 * The method that pays: the first one named by the wishes (`manual` means none), else the customer's default, also if
 * the named one was discarded since. Undefined means no automatic charge: also if its provider charges nobody who is
 * away. Rules: payments.md#payment-methods, provider-connections.md#capabilities.
 */
export async function chooseMethod(
  ctx: Context,
  customerId: CustomerId,
  wishes: readonly MethodWish[],
): Promise<MethodRow | undefined> {
  const wish = firstWish(wishes);
  if (wish?.type === 'manual') return undefined;
  const wished = wish?.id ? await findMethod(ctx, customerId, wish.id) : undefined;
  const method = wished ?? (await findMethod(ctx, customerId, null));
  const provider = method && (await findProviderById(ctx, method.payment_provider_id));
  return provider && can(provider, 'off_session_charge') ? method : undefined;
}
