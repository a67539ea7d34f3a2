import type { Context } from '../../../platform/context.ts';
import { Refusal, refuse } from '../../../platform/refusal.ts';
import { findCustomer } from '../../customers/queries.ts';
import { findMethod } from '../../payment-methods/queries.ts';
import type { SubscriptionCreate } from '../schema.ts';
import { refuseStrangeMethod } from './input.ts';

/**
 * Refuses a subscription whose first amount was to be authorized at the provider: for the reason that the caller can do
 * something about, else because no provider is asked yet.
 *
 * @throws Refusal 422 stripe_required, of a customer without that provider; payment_method; payment_method_id
 *   customer_has_no_payment_method; authorization unsupported_value
 * Rule: subscriptions-and-invoices B.1 "authorization".
 */
export async function refuseAuthorization(ctx: Context, body: SubscriptionCreate): Promise<never> {
  const customer = await findCustomer(ctx.db, ctx.organizationId, body.external_customer_id);
  if (customer?.payment_provider !== 'stripe')
    throw new Refusal(422, { error: 'Unprocessable Entity', code: 'stripe_required', error_details: {} });
  await refuseStrangeMethod(ctx, customer.id, body);
  const named = body.payment_method?.payment_method_id ?? null;
  if (!(await findMethod(ctx.db, ctx.organizationId, customer.id, named)))
    throw refuse.invalid({ payment_method_id: ['customer_has_no_payment_method'] });
  throw refuse.invalid({ authorization: ['unsupported_value'] });
}
