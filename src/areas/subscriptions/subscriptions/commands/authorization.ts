import type { Context } from '../../../../platform/context.ts';
import { nameCan } from '../../../../platform/payments/providers.ts';
import { sandboxAuthorization } from '../../../../platform/payments/sandbox/behaviour.ts';
import { Refusal, refuse } from '../../../../platform/refusal.ts';
import { findCustomer } from '../../../customers/customers/queries.ts';
import { findMethod } from '../../../customers/payment-methods/queries.ts';
import type { Authorization, SubscriptionCreate } from '../schema.ts';
import { refuseStrangeMethod } from './input.ts';

/**
 * Has the provider authorize an amount before a subscription is created; nothing is captured. A sandbox decides by the
 * method alone and holds nothing that must be released. Other connections are not supported, because a command makes no
 * network calls.
 *
 * @throws Refusal 422 stripe_required, of a customer without that provider; payment_method; payment_method_id
 *   customer_has_no_payment_method; provider_error; authorization unsupported_value, of a connection over the network
 * Rule: subscriptions.md#fields "authorization".
 */
export async function authorize(ctx: Context, body: SubscriptionCreate, asked: Authorization) {
  const customer = await findCustomer(ctx, body.external_customer_id);
  if (!customer || !nameCan(customer.payment_provider, 'authorize'))
    throw new Refusal(422, { error: 'Unprocessable Entity', code: 'stripe_required', error_details: {} });
  await refuseStrangeMethod(ctx, customer.id, body);
  const named = body.payment_method?.payment_method_id ?? null;
  const method = await findMethod(ctx, customer.id, named);
  if (!method) throw refuse.invalid({ payment_method_id: ['customer_has_no_payment_method'] });
  if (!method.details.behaviour) throw refuse.invalid({ authorization: ['unsupported_value'] });
  const error = sandboxAuthorization(method.method_type, method.details.behaviour, asked.amount_cents);
  if (error) throw refuse.provider(method.provider_code, error);
  return {
    id: `pi_sandbox_${method.id}`,
    object: 'payment_intent',
    amount: asked.amount_cents,
    amount_capturable: asked.amount_cents,
    status: 'requires_capture',
  };
}
