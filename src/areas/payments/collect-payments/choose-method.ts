import type { Context } from '../../../platform/context.ts';
import { beginsTransfers, can } from '../../../platform/payments/providers.ts';
import { isTransferred } from '../../../platform/payments/unstored-kinds.ts';
import type { CustomerRow } from '../../customers/customers/queries.ts';
import { findMethod } from '../../customers/payment-methods/queries.ts';
import { findProviderById } from '../../customers/payment-providers/queries.ts';
import type { WayToPay } from '../payments/start-charge.ts';
import { firstWish, type MethodWish } from './wishes-of-invoice.ts';

/**
 * What pays: the first method named by the wishes (`manual` means none), else a transfer if the customer pays by
 * transfer, else the customer's default, also if the named one was discarded since. Undefined means no automatic
 * charge: also if its provider charges nobody who is away.
 * Rules: payments.md#payment-methods, payments.md#charged-on-line, provider-connections.md#capabilities.
 */
export async function chooseMethod(
  ctx: Context,
  customer: CustomerRow,
  wishes: readonly MethodWish[],
): Promise<WayToPay | undefined> {
  const wish = firstWish(wishes);
  if (wish?.type === 'manual') return undefined;
  const wished = wish?.id ? await findMethod(ctx, customer.id, wish.id) : undefined;
  const method = wished ?? (await transferBy(ctx, customer)) ?? (await findMethod(ctx, customer.id, null));
  const provider = method && (await findProviderById(ctx, method.payment_provider_id));
  return provider && can(provider, 'off_session_charge') ? method : undefined;
}

/** A transfer, if the customer pays by one and the provider begins transfers. */
export async function transferBy(ctx: Context, customer: CustomerRow): Promise<WayToPay | undefined> {
  const { payment_provider_id, provider_customer_id, provider_payment_methods: kinds } = customer;
  if (payment_provider_id === null || provider_customer_id === null || !isTransferred(kinds)) return undefined;
  const provider = await findProviderById(ctx, payment_provider_id);
  if (!provider || !beginsTransfers(provider)) return undefined;
  return { payment_provider_id, provider_customer_id, id: null };
}
