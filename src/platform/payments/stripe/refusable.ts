import Stripe from 'stripe';
import { Outage } from '../../refusal.ts';
import { type ProviderError, ProviderRefusal } from '../port.ts';

/** A refusal of Stripe with its message; undefined if the outcome of the call is unknown. */
export function faultOf(error: unknown): ProviderError | undefined {
  if (!(error instanceof Stripe.errors.StripeError)) return undefined;
  const isRefusal =
    error instanceof Stripe.errors.StripeCardError ||
    error instanceof Stripe.errors.StripeInvalidRequestError ||
    error instanceof Stripe.errors.StripeAuthenticationError ||
    error instanceof Stripe.errors.StripePermissionError;
  return isRefusal ? { code: error.decline_code || error.code || error.type, message: error.message } : undefined;
}

export async function refusable<Result>(call: () => Promise<Result>): Promise<Result> {
  try {
    return await call();
  } catch (error) {
    const fault = faultOf(error);
    throw fault ? new ProviderRefusal(fault) : new Outage('stripe', error);
  }
}
