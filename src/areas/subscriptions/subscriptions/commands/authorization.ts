import type { Context } from '../../../../platform/context.ts';
import type { AuthorizationId, PaymentMethodId, SubscriptionId } from '../../../../platform/ids.ts';
import { nameCan } from '../../../../platform/payments/providers.ts';
import { sandboxAuthorization } from '../../../../platform/payments/sandbox/behaviour.ts';
import { Refusal, refuse } from '../../../../platform/refusal.ts';
import { findCustomer } from '../../../customers/customers/queries.ts';
import { findMethod } from '../../../customers/payment-methods/queries.ts';
import type { Authorization, SubscriptionCreate } from '../schema.ts';
import { refuseStrangeMethod } from './input.ts';

/** Releases an authorization at its provider. */
const RELEASE_JOB = 'payment.release-authorization';

/** An amount that was reserved at the provider before the command. */
export interface Authorized {
  authorizationId: AuthorizationId;
  methodId: PaymentMethodId;
  view: { id: string; object: string; amount: number; amount_capturable: number; status: string };
}

/**
 * The amount that the provider has authorized before a subscription is created; nothing is captured. A sandbox decides
 * here by the method alone and holds nothing that must be released; other providers were asked before. Undefined while
 * the command is rehearsed.
 *
 * @throws Refusal 422 stripe_required, of a customer without that provider; payment_method; payment_method_id
 *   customer_has_no_payment_method; provider_error; authorization unsupported_value, where the provider cannot be asked
 * Rule: subscriptions.md#authorization.
 */
export async function authorize(ctx: Context, body: SubscriptionCreate, asked: Authorization) {
  const customer = await findCustomer(ctx, body.external_customer_id);
  if (!customer || !nameCan(customer.payment_provider, 'authorize'))
    throw new Refusal(422, { error: 'Unprocessable Entity', code: 'stripe_required', error_details: {} });
  await refuseStrangeMethod(ctx, customer.id, body);
  const named = body.payment_method?.payment_method_id ?? null;
  const method = await findMethod(ctx, customer.id, named);
  if (!method) throw refuse.invalid({ payment_method_id: ['customer_has_no_payment_method'] });
  if (!method.details.behaviour) return ctx.asked?.isRehearsal ? undefined : takeAuthorized(ctx, method.id);
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

/** What the pre-step has reserved on this method, unless it was released meanwhile; released after the commit. */
async function takeAuthorized(ctx: Context, methodId: PaymentMethodId): Promise<Authorized['view']> {
  const authorized = ctx.asked?.answer as Authorized | undefined;
  if (authorized?.methodId !== methodId) throw refuse.invalid({ authorization: ['unsupported_value'] });
  const { authorizationId } = authorized;
  const held = await ctx.db`
    select from authorizations
    where organization_id = ${ctx.organizationId} and id = ${authorizationId} and released_at is null for update`;
  if (held.length === 0) throw refuse.invalid({ authorization: ['unsupported_value'] });
  ctx.after({ nudge: RELEASE_JOB, payload: { authorization_id: authorizationId } });
  return authorized.view;
}

/** Notes for which subscription an amount was authorized. */
export async function linkAuthorization(ctx: Context, subscriptionId: SubscriptionId): Promise<void> {
  const authorized = ctx.asked?.answer as Authorized | undefined;
  if (!authorized) return;
  await ctx.db`
    update authorizations set subscription_id = ${subscriptionId}
    where organization_id = ${ctx.organizationId} and id = ${authorized.authorizationId}`;
}
