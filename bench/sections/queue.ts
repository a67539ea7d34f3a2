import { setTimeout as pause } from 'node:timers/promises';
import { packBatch } from '../../src/areas/usage/events/packed-batch.ts';
import { realNowMs } from '../../src/platform/clock/real-clock.ts';
import { createProducer, type Producer } from '../../src/platform/queue/producer.ts';
import { type QueueName, queues } from '../../src/queues.ts';
import type { EventSource } from '../data/event-source.ts';
import { incomingEvents, singleBatches } from '../data/incoming.ts';
import { createBenchOrganization } from '../data/organization.ts';
import { deleteKeys, type Environment } from '../harness/environment.ts';
import type { Effort } from '../harness/options.ts';
import { startProcess } from '../harness/processes.ts';
import { emptyFindings, type Findings } from '../harness/report.ts';
import { interleave, median, ratioOf, spreadOf } from '../harness/rounds.ts';
import { perSecond } from '../harness/units.ts';

const EVENTS_PER_JOB = 100;
const COALESCED_EVENTS = 30_000;
const SINGLE_EVENTS = 4000;
const LOOK_EVERY_MS = 10;

/** G13, G15: how fast waiting events drain, and what a drained run leaves in Redis. */
export async function measureQueue(environment: Environment, effort: Effort): Promise<Findings> {
  const findings = emptyFindings();
  const organization = await createBenchOrganization(environment, 'Bench queue');
  const source = { label: 'queue', at: Math.floor(realNowMs() / 1000) };
  // The baseline's worker lives under a prefix of its own, so that neither takes the other's jobs.
  const single = { ...environment, prefix: `${environment.prefix}:single` };
  const sent = { events: 0 };
  const coalesced = openQueue(environment, organization.id, source, sent);
  const perEvent = openQueue(single, organization.id, source, sent);
  const workers = await startProcess(environment, 'workers/all.js');
  const baseline = await startProcess(single, 'bench/processes/per-event-worker.js');

  const figures = await interleave(effort.rounds, {
    baseline: () => perEvent.drain(SINGLE_EVENTS, 1),
    coalesced: () => coalesced.drain(COALESCED_EVENTS, EVENTS_PER_JOB),
  });
  findings.ratios.G13 = ratioOf(figures.coalesced, figures.baseline, figures.isNoisy);
  await baseline.stop();
  await perEvent.producer.close();
  await deleteKeys(environment.redis, single.prefix);

  const left: number[] = [];
  for (let round = 0; round < effort.rounds; round += 1) {
    await untilIdle(coalesced.producer);
    const before = await usedMemory(environment);
    await coalesced.drain(COALESCED_EVENTS, EVENTS_PER_JOB);
    await untilIdle(coalesced.producer);
    left.push(((await usedMemory(environment)) - before) / COALESCED_EVENTS);
  }
  findings.ratios.G15 = spreadOf(left);
  await workers.stop();

  const [row] = await environment.sql<{ count: number }[]>`
    select count(*)::int as count from events where organization_id = ${organization.id}`;
  findings.checks.push({ what: 'events of all drained jobs are stored', expected: sent.events, found: row!.count });
  findings.absolute = {
    'per-event jobs': perSecond(median(figures.baseline)),
    'coalesced events': perSecond(median(figures.coalesced)),
  };
  findings.notes.push(
    'workers: one host with all pools; baseline: one job, statement and reply an event, concurrency 20, no later steps',
  );
  await coalesced.producer.close();
  return findings;
}

function openQueue(environment: Environment, organizationId: string, source: EventSource, sent: { events: number }) {
  const producer = createProducer(environment.redis, environment.prefix);
  return {
    producer,
    /** Fills the paused queue, then lets it run: events a second until it is empty. */
    async drain(events: number, perJob: number): Promise<number> {
      const queue = producer.queue('events');
      await queue.pause();
      const batches = singleBatches(organizationId, incomingEvents(source, sent.events, events));
      sent.events += events;
      const items = Array.from({ length: events / perJob }, (_, index) => ({
        payload: {
          v: 1 as const,
          from: 'bench',
          cid: String(index),
          at: realNowMs(),
          batches: batches.slice(index * perJob, (index + 1) * perJob).map(packBatch),
        },
      }));
      await producer.addMany('events.store', items);
      const started = performance.now();
      await queue.resume();
      await untilEmpty(producer, ['events']);
      return (events / (performance.now() - started)) * 1000;
    },
  };
}

/** All queues are empty: the steps after storing are done too. */
const untilIdle = (producer: Producer): Promise<void> => untilEmpty(producer, Object.keys(queues) as QueueName[]);

async function untilEmpty(producer: Producer, names: QueueName[]): Promise<void> {
  for (;;) {
    const counts = await Promise.all(
      names.map((name) => producer.queue(name).getJobCounts('waiting', 'active', 'delayed')),
    );
    if (counts.every((count) => Object.values(count).every((jobs) => jobs === 0))) return;
    await pause(LOOK_EVERY_MS);
  }
}

async function usedMemory({ redis }: Environment): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await redis.info('memory'))![1]);
}
