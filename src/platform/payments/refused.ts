import { Outage } from '../refusal.ts';
import {
  type ChargeOutcome,
  CredentialsRefused,
  type ProviderError,
  ProviderRefusal,
  ReadRefused,
  TooManyCalls,
} from './port.ts';

export const TOO_SMALL: ProviderError = { code: 'amount_too_small', message: 'Less than the provider can take.' };
export const NOT_REPRESENTABLE: ProviderError = {
  code: 'amount_not_representable',
  message: 'The provider cannot give back a part of its smallest step.',
};

/** What was done under a key is unknown: it was used for another content, or is too old to be sent again. */
export const KEY_CONFLICT: ProviderError = {
  code: 'idempotency_conflict',
  message: 'The provider knows this id with another content.',
};
export const TOO_OLD: ProviderError = {
  code: 'outcome_unknown',
  message: 'The provider gave no answer, and has forgotten the id by now.',
};

/** Codes of charges of which nobody knows if they were made, so that another one could be the second. */
export const UNKNOWN_OUTCOMES: readonly string[] = [KEY_CONFLICT.code, TOO_OLD.code];

export const isUnknownOutcome = ({ code }: Pick<ProviderError, 'code'>): boolean => UNKNOWN_OUTCOMES.includes(code);

/** The outcome of a charge in a currency that the provider does not take, found before any call. */
export const notSupported = (currency: string) =>
  ({
    kind: 'answered',
    status: 'failed',
    paymentStatus: 'failed',
    providerPaymentId: null,
    error: { code: 'currency_not_supported', message: `The provider takes no ${currency}.` },
  }) satisfies ChargeOutcome;

/**
 * The outcome of a charge whose call was refused, or got no answer.
 *
 * @param status the word for a failed charge, as the provider's list of words has it
 * @throws any other error, and one call too many: nothing was done, and the queue waits as long as the provider says
 */
export function outcomeOfError(error: unknown, status: string): ChargeOutcome {
  if (error instanceof ProviderRefusal)
    return { kind: 'answered', status, paymentStatus: 'failed', providerPaymentId: null, error: error.error };
  if (error instanceof TooManyCalls || !(error instanceof Outage)) throw error;
  return { kind: 'unreachable', error: { code: 'unreachable', message: String((error.cause as Error).message) } };
}

/**
 * Reads the state of an object, where a refusal is about the object or our credentials, and the state stays unknown.
 *
 * @throws ReadRefused, CredentialsRefused, other Outages
 */
export async function readState<Result>(provider: string, read: () => Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ProviderRefusal)) throw error instanceof Outage ? error : new Outage(provider, error);
    const { httpStatus } = error.error;
    if (httpStatus === 401 || httpStatus === 403) throw new CredentialsRefused(provider, error, httpStatus);
    throw new ReadRefused(provider, error, error.error);
  }
}
