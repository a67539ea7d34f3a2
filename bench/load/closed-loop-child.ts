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
  const makeRequest = requestMaker(load);
  let next = load.firstRequest;
  let measured = 0;
  const from = performance.now() + load.warmUpSeconds * 1000;
  const to = from + load.measuredSeconds * 1000;

  const result = await autocannon({
    url: load.url,
    connections: load.connections,
    duration: load.warmUpSeconds + load.measuredSeconds,
    sampleInt: CHECK_EVERY_MS,
    setupClient(client: Client) {
      let current = 0;
      client.getRequestBuffer = () => {
        current = next;
        next += 1;
        unanswered.add(current);
        return makeRequest(current);
      };
      client.on('response', (status: number) => {
        const now = performance.now();
        if (now >= from && now < to) measured += 1;
        statuses[status] = (statuses[status] ?? 0) + 1;
        unanswered.delete(current);
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

/**
 * Bytes of the request of a number. Made here and not by autocannon, whose request builder takes as long as all the
 * rest of a request does, on the cores that the service needs.
 */
function requestMaker(load: ClosedLoad): (request: number) => Buffer {
  const { host, pathname } = new URL(load.url);
  const head = [
    `POST ${pathname} HTTP/1.1`,
    `Host: ${host}`,
    'Connection: keep-alive',
    `Authorization: Bearer ${load.apiKey}`,
    'Content-Type: application/json',
    'Content-Length: ',
  ].join('\r\n');
  return (request) => {
    const body = requestBody(load.source, request, load.eventsPerRequest); // ASCII: a character is a byte
    return Buffer.from(`${head}${body.length}\r\n\r\n${body}`, 'latin1');
  };
}
