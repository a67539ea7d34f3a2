import type { Metrics } from '../../../platform/metrics/metrics.ts';
import {
  CredentialsRefused,
  isAboutCredentials,
  type PaymentProvider,
  ProviderConflict,
  type ProviderError,
  ProviderRefusal,
  ReadRefused,
  TooManyCalls,
} from '../../../platform/payments/port.ts';
import { Outage } from '../../../platform/refusal.ts';

/** Where calls are counted; absent in processes without metrics. */
export interface CountsCalls {
  metrics?: Pick<Metrics, 'providerCalls'>;
}

/** What became of a call. A charge that is declined is answered: the provider did what it was asked. */
type Outcome = 'answered' | 'refused' | 'credentials_refused' | 'conflict' | 'limited' | 'unreachable' | 'failed';

/**
 * The same driver, whose calls are counted by type, operation and outcome. An operation that reads several pages is one
 * call. Rule: provider-connections.md#many-calls.
 */
export function counted({ metrics }: CountsCalls, type: string, provider: PaymentProvider): PaymentProvider {
  if (!metrics) return provider;
  const count = (method: string, outcome: Outcome) =>
    metrics.providerCalls.inc({ type, operation: inSnakeCase(method), outcome });
  return new Proxy(provider, {
    get(target, name: keyof PaymentProvider) {
      if (typeof target[name] !== 'function') return target[name];
      const method = target[name] as (...parameters: unknown[]) => Promise<unknown>;
      return async (...parameters: unknown[]) => {
        try {
          const result = await method.apply(target, parameters);
          count(name, outcomeOf(result));
          return result;
        } catch (error) {
          count(name, outcomeOfError(error));
          throw error;
        }
      };
    },
  });
}

const inSnakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function outcomeOf(result: unknown): Outcome {
  const { kind, ok, error } = (result ?? {}) as { kind?: string; ok?: boolean; error?: ProviderError };
  if (isAboutCredentials(error)) return 'credentials_refused';
  if (kind === 'unreachable' || kind === 'conflict') return kind;
  return ok === false ? 'refused' : 'answered';
}

function outcomeOfError(error: unknown): Outcome {
  if (error instanceof TooManyCalls) return 'limited';
  if (error instanceof CredentialsRefused) return 'credentials_refused';
  if (error instanceof ProviderConflict) return 'conflict';
  if (error instanceof ProviderRefusal || error instanceof ReadRefused)
    return isAboutCredentials(error.error) ? 'credentials_refused' : 'refused';
  return error instanceof Outage ? 'unreachable' : 'failed';
}
