import type { Properties } from './context.ts';
import { meteredFetch } from './metered-fetch.ts';
import type { Meterstone } from './meterstone.ts';

export interface MeterOptions {
  to: Meterstone;
  /** Who serves the models, where it is not the client's own: a server that speaks the same. */
  provider?: string;
  /** External id of the subscription of calls without `withMeter`. */
  subscription?: string;
  /** Beside those of `withMeter`. */
  properties?: Properties;
}

/** What the clients of OpenAI and Anthropic have in common. */
interface FetchingClient {
  fetch?: unknown;
  withOptions(options: object): unknown;
}

/**
 * The same client, whose calls of chat completions, responses, messages and embeddings are reported: same class,
 * arguments, answers, errors and streams, its helpers too.
 *
 * @throws TypeError for what is no client of that form
 */
export function meter<Client extends object>(client: Client, options: MeterOptions): Client {
  const { fetch: own, withOptions } = client as Partial<FetchingClient>;
  if (typeof withOptions !== 'function') throw new TypeError('a client of OpenAI or Anthropic has withOptions()');
  const given = typeof own === 'function' ? (own as typeof fetch) : fetch;
  return (client as unknown as FetchingClient).withOptions({ fetch: meteredFetch(given, options) }) as Client;
}
