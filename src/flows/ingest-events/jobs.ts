import type { Redis } from 'ioredis';
import { realNow, realNowExactMs, realNowMs } from '../../platform/clock/real-clock.ts';
import type { Config } from '../../platform/config.ts';
import type { Sql } from '../../platform/db/connect.ts';
import type { Metrics } from '../../platform/metrics/metrics.ts';
import type { Producer } from '../../platform/queue/producer.ts';
import type { Handlers } from '../../platform/queue/worker.ts';
import { publishReply } from '../../platform/replies/replies.ts';
import { explainBatch } from '../../resources/events/explain/explain-batch.ts';
import { type IncomingBatch, STORING_FAILED, type Verdict } from '../../resources/events/incoming.ts';
import { type PackedBatch, unpackBatch } from '../../resources/events/packed.ts';
import { isoOfMs } from '../../resources/events/timestamps.ts';
import { finishBatches } from './finish-batches.ts';
import { createMerger } from './merger.ts';
import { nudgeWatchers, type Watched } from './nudge-watchers.ts';
import { createOwed } from './owe-in-advance.ts';
import { type StoreDeps, storeEvents } from './store-events.ts';

/**
 * Handler of `events.store`: stores the batches of a job together with those of other jobs and tells the ingress process
 * that waits what became of each event: null when all were stored as sent. Rule: performance-design 3.3.
 */
export function storeHandlers(
  deps: StoreDeps & { redis: Redis; config: Config; metrics: Metrics },
): Pick<Handlers, 'events.store'> {
  const store = createMerger((batches) => storeEvents(deps, batches));
  const reply = (job: { from: string; cid: string }, answer: unknown) =>
    publishReply(deps.redis, deps.config.REDIS_PREFIX, job.from, job.cid, answer);
  return {
    async 'events.store'(job, info) {
      let verdicts: Verdict[];
      try {
        const batches = (job.batches as PackedBatch[]).map(unpackBatch);
        verdicts = (await explained(deps.sql, batches, await store(batches))).flat();
      } catch (error) {
        if (info.lastAttempt) await reply(job, STORING_FAILED);
        throw error;
      }
      await reply(job, verdicts.every((verdict) => verdict === 0) ? null : verdicts);
      deps.metrics.ingestLagSeconds.observe((realNowMs() - job.at) / 1000);
      count(deps.metrics, verdicts);
    },
  };
}

/** The verdicts, with what billing makes of the events where a request asked for it; others pay nothing (beyond 3.1). */
async function explained(sql: Sql, batches: readonly IncomingBatch[], verdicts: Verdict[][]): Promise<Verdict[][]> {
  if (batches.every((batch) => batch.explain === undefined)) return verdicts;
  const now = isoOfMs(realNowExactMs());
  return Promise.all(batches.map((batch, index) => explainBatch(sql, batch, verdicts[index]!, now)));
}

function count(metrics: Metrics, verdicts: readonly Verdict[]): void {
  const counts = { stored: 0, conflict: 0, replayed: 0, refused: 0 };
  for (const verdict of verdicts) counts[nameOf(verdict)] += 1;
  for (const [verdict, events] of Object.entries(counts)) {
    if (events > 0) metrics.eventsStored.inc({ verdict }, events);
  }
}

function nameOf(verdict: Verdict): 'stored' | 'conflict' | 'replayed' | 'refused' {
  if (verdict === 0) return 'stored';
  if (verdict === 1) return 'conflict';
  return 'r' in verdict ? 'replayed' : 's' in verdict ? 'stored' : 'refused';
}

/** Batches finished in one transaction: their events are in memory together. */
const BATCHES_A_TRANSACTION = 10;

/** Handler of `events.finish-batch`: the asynchronous steps of stored batches. */
export const finishHandlers = ({
  sql,
  producer,
}: {
  sql: Sql;
  producer: Pick<Producer, 'addMany'>;
}): Pick<Handlers, 'events.finish-batch'> => ({
  async 'events.finish-batch'({ batch_ids: ids }) {
    const owed = createOwed();
    const watched: Watched[] = [];
    for (let first = 0; first < ids.length; first += BATCHES_A_TRANSACTION) {
      const part = ids.slice(first, first + BATCHES_A_TRANSACTION);
      watched.push(...(await sql.begin((tx) => finishBatches(tx, part, owed))));
    }
    await owed.nudge(producer);
    await nudgeWatchers(producer, watched, realNow());
  },
});
