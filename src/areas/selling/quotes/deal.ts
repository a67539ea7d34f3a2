import type { Currency } from '../../../engine/money/currency.ts';
import type { Context } from '../../../platform/context.ts';
import type { SubscriptionId } from '../../../platform/ids.ts';
import { type FieldErrors, refuse } from '../../../platform/refusal.ts';
import { refuseFaults } from '../../../platform/schema/faults.ts';
import { findBillingEntity, getBillingEntity } from '../../customers/billing-entities/queries.ts';
import type { CustomerRow } from '../../customers/customers/queries.ts';
import { getShown, type SubscriptionShown } from '../../subscriptions/subscriptions/queries.ts';
import type { VersionFields } from './writes.ts';

/** The parties of a deal: the customer, and the subscription that an amendment changes. */
export interface DealParties {
  customer: CustomerRow;
  target: SubscriptionShown | null;
}

export const zoneOf = (customer: CustomerRow): string => customer.timezone ?? customer.billing_entity_timezone;

/** The subscription that a quote amends. */
export const targetOf = async (
  ctx: Context,
  { subscription_id: id }: { subscription_id: SubscriptionId | null },
): Promise<SubscriptionShown | null> => (id === null ? null : getShown(ctx, id));

interface Named {
  currency?: Currency | null | undefined;
  billing_entity_code?: string | null | undefined;
}

/**
 * Currency and billing entity of a version, as an input names them over what is stored; null restores the default
 * currency: of the target's plan, else of the customer, else of the billing entity.
 *
 * @throws Refusal 404 billing_entity; 422 currency, billing_entity_code: not_supported_for_order_type, of amendments
 * Rule: quotes.md#approval.
 */
export async function termsOfDeal(
  ctx: Context,
  { customer, target }: DealParties,
  named: Named,
  stored: Pick<VersionFields, 'billing_entity_code'> & { currency: Currency | null } = {
    currency: null,
    billing_entity_code: null,
  },
): Promise<{ currency: Currency; billing_entity_code: string | null }> {
  if (target) {
    const currency = target.plan_amount_currency as Currency;
    const faults: FieldErrors = {
      ...(named.currency && named.currency !== currency ? { currency: ['not_supported_for_order_type'] } : {}),
      ...(named.billing_entity_code ? { billing_entity_code: ['not_supported_for_order_type'] } : {}),
    };
    refuseFaults(faults);
    return { currency, billing_entity_code: null };
  }
  const code = named.billing_entity_code === undefined ? stored.billing_entity_code : named.billing_entity_code || null;
  const entity = code === null ? undefined : await getBillingEntity(ctx, code);
  if (named.billing_entity_code && entity?.archived_at) throw refuse.notFound('billing_entity');
  const kept = named.currency === undefined ? stored.currency : named.currency;
  if (kept) return { currency: kept, billing_entity_code: code };
  const issuer = entity ?? (await findBillingEntity(ctx, customer.billing_entity_code));
  return { currency: (customer.currency ?? issuer!.default_currency) as Currency, billing_entity_code: code };
}
