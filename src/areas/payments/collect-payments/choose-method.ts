import type { Context } from '../../../platform/context.ts';
import { findMethod, type MethodRow } from '../../customers/payment-methods/queries.ts';

export interface MethodWish {
  type: string | null;
  id: string | null;
}

/**
 * The method that pays: the first one named by the wishes (`manual` means none), else the customer's default, also if
 * the named one was discarded since. Undefined means no automatic charge. Rule: payments.md#payment-methods.
 */
export async function chooseMethod(
  ctx: Context,
  customerId: string,
  wishes: readonly MethodWish[],
): Promise<MethodRow | undefined> {
  const wish = wishes.find(({ type, id }) => type === 'manual' || id !== null);
  if (wish?.type === 'manual') return undefined;
  const wished = wish?.id ? await findMethod(ctx.db, ctx.organizationId, customerId, wish.id) : undefined;
  return wished ?? findMethod(ctx.db, ctx.organizationId, customerId, null);
}
