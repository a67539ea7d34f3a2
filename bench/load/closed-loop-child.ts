import autocannon, { type Client } from 'autocannon';
import { requestBody } from '../data/event-source.ts';
import type { ClosedLoad, ClosedResult } from './messages.ts';

const CHECK_EVERY_MS = 50;

process.once('message', async (load: ClosedLoad) => {
  process.send!(await run(load), () => process.exit(0));
});

/**
 * Closed loop: each connection sends its next request when the former is answered. Only what is answered after the
 * warm-up is counted. Each request has a body of its own.
 */
async function run(load: ClosedLoad): Promise<ClosedResult> {
  const statuses: Record<string, number> = {};
  const unanswered = new Set<number>();
  let next = load.firstRequest;
  let measured = 0;
  const from = performance.now() + load.warmUpSeconds * 1000;
  const to = from + load.measuredSeconds * 1000;

  const result = await autocannon({
    url: load.url,
    method: 'POST',
    headers: { authorization: `Bearer ${load.apiKey}`, 'content-type': 'application/json' },
    body: '{}',
    connections: load.connections,
    duration: load.warmUpSeconds + load.measuredSeconds,
    sampleInt: CHECK_EVERY_MS,
    setupClient(client: Client) {
      let current = 0;
      const prepare = () => {
        current = next;
        next += 1;
        unanswered.add(current);
        client.setBody(requestBody(load.source, current, load.eventsPerRequest));
      };
      prepare();
      client.on('response', (status: number) => {
        const now = performance.now();
        if (now >= from && now < to) measured += 1;
        statuses[status] = (statuses[status] ?? 0) + 1;
        unanswered.delete(current);
        prepare();
      });
    },
  });
  if (result.errors + result.timeouts > 0) statuses.failed = result.errors + result.timeouts;
  return {
    requestsPerSecond: measured / load.measuredSeconds,
    statuses,
    unanswered: [...unanswered],
    nextRequest: next,
  };
}
