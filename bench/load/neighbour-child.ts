import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { BASE_PATH } from '../../src/ingress/answer-request.ts';
import { percentile } from '../harness/rounds.ts';
import type { NeighbourLoad, NeighbourResult } from './messages.ts';

const CONNECTIONS = 50;
const WARM_UPS = 5;
/** Longer than the write timeout, so that a 504 counts as an answer. */
const PATIENCE_MS = 15_000;

process.once('message', async (load: NeighbourLoad) => {
  process.send!(await run(load), () => process.exit(0));
});

/**
 * A quiet neighbour: writes, reads and events at fixed instants, whatever the answers do; latency counts from the
 * instant at which a request was due.
 */
async function run({ url, apiKey, seconds, perSecond, label }: NeighbourLoad): Promise<NeighbourResult> {
  const pool = new Pool(url, { connections: CONNECTIONS, pipelining: 1, headersTimeout: PATIENCE_MS });
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const call = async (method: 'GET' | 'POST', path: string, body?: object): Promise<boolean> => {
    try {
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const answer = await pool.request({ method, path: `${BASE_PATH}${path}`, headers, ...sent });
      await answer.body.dump();
      return answer.statusCode === 200;
    } catch {
      return false;
    }
  };
  const kinds = {
    writes: (name: string) => call('POST', '/customers', { customer: { external_id: name } }),
    reads: () => call('GET', '/plans?per_page=1'),
    events: (name: string) =>
      call('POST', '/events', { event: { transaction_id: name, external_subscription_id: 'none', code: 'none' } }),
  };
  const measure = async (kind: keyof typeof kinds) => {
    const latencies: number[] = [];
    let failed = 0;
    const open: Promise<void>[] = [];
    const start = performance.now();
    for (let index = 0; index < seconds * perSecond; index += 1) {
      const dueAt = start + (index * 1000) / perSecond;
      await pause(Math.max(0, dueAt - performance.now()));
      open.push(
        kinds[kind](`${label}-${index}`).then((isWell) => {
          latencies.push(performance.now() - dueAt);
          if (!isWell) failed += 1;
        }),
      );
    }
    await Promise.all(open);
    return { p50Ms: percentile(latencies, 0.5), p99Ms: percentile(latencies, 0.99), failed };
  };
  // Its connections and its own code are warm when it is measured: a cold start took 30 to 100 ms of three samples.
  for (let index = 0; index < WARM_UPS; index += 1)
    await Promise.all([kinds.writes(`${label}-w${index}`), kinds.reads(), kinds.events(`${label}-w${index}`)]);
  const [writes, reads, events] = await Promise.all([measure('writes'), measure('reads'), measure('events')]);
  await pool.close();
  return { writes, reads, events };
}
