import type { Redis } from 'ioredis';
import { realNowExactMs, realNowMs } from '../../../platform/clock/real-clock.ts';
import type { Config } from '../../../platform/config.ts';
import type { Sql } from '../../../platform/db/connect.ts';
import type { Metrics } from '../../../platform/metrics/metrics.ts';
import type { Positions } from '../../../platform/positions/positions.ts';
import type { Handlers, JobInfo } from '../../../platform/queue/worker.ts';
import { publishReply } from '../../../platform/replies/replies.ts';
import type { JobPayload } from '../../../queues.ts';
import { shownText } from '../events/answer-text.ts';
import { explainBatch } from '../events/explain/explain-batch.ts';
import { HELD, type IncomingBatch, STORING_FAILED, type Verdict } from '../events/incoming-event.ts';
import { type PackedBatch, unpackBatch } from '../events/packed-batch.ts';
import { isoOfMs } from '../events/timestamps.ts';
import { createMerger, createMergersApart } from './merge-batches.ts';
import { createOnceEach } from './once-each.ts';
import { type StoreDeps, storeEvents } from './store-events.ts';
import { type SharedVerdicts, storeShared } from './store-shared.ts';

/** Longest wait for locks of an organization that is stored apart, as in commands; then its job is tried again. */
const APART_PATIENCE_MS = 5000;

/**
 * Handler of `events.store`: stores the batches of a job together with those of other jobs and replies to the waiting
 * ingress process with the result of each event, null when all were stored as sent. Jobs of one organization are stored
 * separately; events that would delay others are answered with HELD and come again in such a job.
 * Rules: storing-events.md#jobs-and-replies, everywhere.md#bounded-cost.
 */
export function storeHandlers(
  deps: StoreDeps & {
    redis: Redis;
    config: Config;
    metrics: Metrics;
    positions?: Pick<Positions, 'keep'> | undefined;
  },
): Pick<Handlers, 'events.store'> {
  const shared = createMerger((batches) => storeShared(deps, batches));
  const apart = createMergersApart<SharedVerdicts>((batches) =>
    storeEvents({ ...deps, patienceMs: APART_PATIENCE_MS }, batches),
  );
  const reply = (job: { from: string; cid: string }, answer: unknown, position?: string) =>
    publishReply(deps.redis, deps.config.REDIS_PREFIX, { to: job.from, cid: job.cid, reply: answer, position });
  const once = createOnceEach();
  async function storeJob(job: JobPayload<'events.store'>, info: JobInfo): Promise<void> {
    let verdicts: (Verdict | typeof HELD)[];
    let position: string | undefined;
    try {
      const batches = (job.batches as PackedBatch[]).map(unpackBatch);
      const { organization_id: id } = job;
      const stored = await (id === undefined ? shared(batches) : apart(id, batches));
      const told = await explained(deps.sql, batches, stored);
      verdicts = (job.shows_ratings ? told : told.map((each, index) => shownWhole(each, batches[index]!))).flat();
      position = await deps.positions?.keep([...new Set(batches.map(({ organization_id }) => organization_id))]);
    } catch (error) {
      if (info.lastAttempt) await reply(job, STORING_FAILED);
      throw error;
    }
    await reply(job, verdicts.every((verdict) => verdict === 0) ? null : verdicts, position);
    deps.metrics.ingestLagSeconds.observe((realNowMs() - job.at) / 1000);
    count(deps.metrics, verdicts);
  }
  return { 'events.store': (job, info) => once(job.cid, () => storeJob(job, info)) };
}

/** The verdicts, with explanations for requests that want them; others cost nothing (event-verdicts.md#verdict). */
async function explained(
  sql: Sql,
  batches: readonly IncomingBatch[],
  verdicts: SharedVerdicts[],
): Promise<(Verdict | typeof HELD)[][]> {
  const now = isoOfMs(realNowExactMs());
  return Promise.all(
    batches.map((batch, index) => {
      const own = verdicts[index]!;
      if (own === HELD) return batch.events.map(() => HELD);
      return batch.explain === undefined ? own : explainBatch(sql, batch, { verdicts: own, now });
    }),
  );
}

/** Verdicts for an ingress that cannot show a call by what rating wrote. */
const shownWhole = (verdicts: readonly (Verdict | typeof HELD)[], batch: IncomingBatch) =>
  verdicts.map((verdict, index) => {
    if (typeof verdict !== 'object' || !('c' in verdict)) return verdict;
    const { c: _, ...others } = verdict;
    return { ...others, s: shownText(batch.events[index]!, batch, verdict) };
  });

function count(metrics: Metrics, verdicts: readonly (Verdict | typeof HELD)[]): void {
  const counts = { stored: 0, conflict: 0, replayed: 0, refused: 0 };
  // Held events come again and are counted then.
  for (const verdict of verdicts) if (verdict !== HELD) counts[nameOf(verdict)] += 1;
  for (const [verdict, events] of Object.entries(counts)) {
    if (events > 0) metrics.eventsStored.inc({ verdict }, events);
  }
}

function nameOf(verdict: Verdict): 'stored' | 'conflict' | 'replayed' | 'refused' {
  if (verdict === 0) return 'stored';
  if (verdict === 1) return 'conflict';
  return 'r' in verdict ? 'replayed' : 'e' in verdict ? 'refused' : 'stored';
}
