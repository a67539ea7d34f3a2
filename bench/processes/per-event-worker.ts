import { CatalogCache } from '../../src/areas/catalog/usage-shapes/storing-catalog.ts';
import { type PackedBatch, unpackBatch } from '../../src/areas/usage/events/packed-batch.ts';
import { storeEvents } from '../../src/areas/usage/ingest-events/store-events.ts';
import { loadConfig } from '../../src/platform/config.ts';
import { openRuntime } from '../../src/platform/process/runtime.ts';
import { stopOnSignal } from '../../src/platform/process/stop-on-signal.ts';
import { serveQueue } from '../../src/platform/queue/worker.ts';
import { publishReply } from '../../src/platform/replies/replies.ts';

// The figure that more would not improve (queues-and-workers.md).
const CONCURRENCY = 20;

/**
 * The baseline of draining: a worker as one writes it first, each job one event, one statement, one reply, by the same
 * storage function. It leaves the asynchronous steps out.
 */
const runtime = openRuntime(loadConfig(), 'per-event worker');
const deps = { ...runtime, finisher: { add: () => {} }, catalogs: new CatalogCache() };
const worker = serveQueue(
  'events',
  {
    async 'events.store'(job) {
      await storeEvents(deps, (job.batches as PackedBatch[]).map(unpackBatch));
      await publishReply(runtime.redis, runtime.config.REDIS_PREFIX, { to: job.from, cid: job.cid, reply: null });
    },
  },
  { redis: runtime.redis, prefix: runtime.config.REDIS_PREFIX, concurrency: CONCURRENCY, log: runtime.log },
);
process.send?.('ready');
stopOnSignal(runtime.log, async () => {
  await worker.close();
  await runtime.close();
});
