import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { requestBody } from '../data/event-source.ts';
import { percentile } from '../harness/rounds.ts';
import type { OpenLoad, OpenResult } from './messages.ts';

/** Requests before this share of the run warm up the connections and are not measured. */
const WARM_UP_SHARE = 0.2;

process.once('message', async (load: OpenLoad) => {
  process.send!(await run(load), () => process.exit(0));
});

/**
 * Open loop: requests are due at fixed instants whatever the answers do, and latency counts from the DUE time, so that
 * a server that falls behind cannot hide it. A request waits inside this process when all connections are busy.
 */
async function run(load: OpenLoad): Promise<OpenResult> {
  const url = new URL(load.url);
  const pool = new Pool(url.origin, { connections: load.connections, pipelining: 1 });
  const headers = { authorization: `Bearer ${load.apiKey}`, 'content-type': 'application/json' };
  const statuses: Record<string, number> = {};
  const latencies: number[] = [];
  const count = Math.floor(load.ratePerSecond * load.seconds);
  const warmUp = Math.floor(count * WARM_UP_SHARE);
  const gapMs = 1000 / load.ratePerSecond;
  const start = performance.now() + 50;
  const open: Promise<void>[] = [];

  const send = async (index: number): Promise<void> => {
    let status: number | 'failed' = 'failed';
    try {
      const body = requestBody(load.source, load.firstRequest + index, load.eventsPerRequest);
      const answer = await pool.request({ method: 'POST', path: url.pathname, headers, body });
      await answer.body.dump();
      status = answer.statusCode;
    } catch {
      // counted as failed
    }
    if (index >= warmUp) latencies.push(performance.now() - (start + index * gapMs));
    statuses[status] = (statuses[status] ?? 0) + 1;
  };

  for (let index = 0; index < count; ) {
    const due = Math.min(count, Math.floor((performance.now() - start) / gapMs) + 1);
    for (; index < due; index += 1) open.push(send(index));
    if (gapMs > 2) await pause(1);
    else await nextTurn();
  }
  await Promise.all(open);
  await pool.close();
  return {
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    statuses,
    unanswered: [],
    nextRequest: load.firstRequest + count,
  };
}
