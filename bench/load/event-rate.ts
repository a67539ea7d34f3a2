import { BASE_PATH } from '../../src/ingress/answer-request.ts';
import type { EventSource } from '../data/event-source.ts';
import type { Effort } from '../harness/options.ts';
import { closedLoop } from './run-load.ts';

const CONNECTIONS = 100;

/**
 * Measures requests of one event each, per second, over 100 connections: first the address and the path if it is
 * another, then once a round. No event is sent twice, whichever address is asked.
 */
export function eventRate(
  effort: Effort,
  apiKey: string,
  source: EventSource,
  connections = CONNECTIONS,
): (url: string, path?: string) => () => Promise<number> {
  let firstRequest = 0;
  return (url, path = '/events') =>
    async () => {
      const result = await closedLoop({
        warmUpSeconds: effort.warmUpSeconds,
        measuredSeconds: effort.measuredSeconds,
        url: `${url}${BASE_PATH}${path}`,
        apiKey,
        source,
        eventsPerRequest: 1,
        firstRequest,
        connections,
      });
      firstRequest = result.nextRequest;
      return result.requestsPerSecond;
    };
}
