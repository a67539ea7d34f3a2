import Stripe from 'stripe';
import { readRetryAfterMs } from '../../http/retry-after.ts';
import { Outage } from '../../refusal.ts';
import { ProviderConflict, type ProviderError, ProviderRefusal, TooManyCalls } from '../port.ts';
import { KEY_CONFLICT } from '../refused.ts';

/** A refusal of Stripe with its message; undefined if the outcome of the call is unknown. */
export function faultOf(error: unknown): ProviderError | undefined {
  if (!(error instanceof Stripe.errors.StripeError)) return undefined;
  const isRefusal =
    error instanceof Stripe.errors.StripeCardError ||
    error instanceof Stripe.errors.StripeInvalidRequestError ||
    error instanceof Stripe.errors.StripeAuthenticationError ||
    error instanceof Stripe.errors.StripePermissionError;
  if (!isRefusal) return undefined;
  return {
    code: error.decline_code || error.code || error.type,
    message: withoutKeys(error.message),
    ...(error.statusCode ? { httpStatus: error.statusCode } : {}),
  };
}

/** Stripe's message may repeat a part of the key that it refuses. */
const withoutKeys = (message: string): string => message.replaceAll(/\b[srp]k_(?:test|live)_[\w*]+/g, '[key]');

export const isTooMany = (error: unknown): error is InstanceType<typeof Stripe.errors.StripeError> =>
  error instanceof Stripe.errors.StripeError && error.statusCode === 429;

/** The key is known with another content; while the first call with it is under way, Stripe answers 409 instead. */
export const isConflict = (error: unknown): boolean =>
  error instanceof Stripe.errors.StripeIdempotencyError && error.statusCode !== 409;

/** No answer, or none about this call: Stripe has failed, or has had too many calls. */
export function outageOf(error: unknown): Outage {
  if (!isTooMany(error)) return new Outage('stripe', error);
  // Stripe has no pause of zero: the waits grow as where it says nothing.
  return new TooManyCalls('stripe', error, readRetryAfterMs(error.headers?.['retry-after']) || undefined);
}

export async function refusable<Result>(call: () => Promise<Result>): Promise<Result> {
  try {
    return await call();
  } catch (error) {
    if (isConflict(error)) throw new ProviderConflict(KEY_CONFLICT);
    const fault = faultOf(error);
    throw fault ? new ProviderRefusal(fault) : outageOf(error);
  }
}
