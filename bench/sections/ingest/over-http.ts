import { setTimeout as pause } from 'node:timers/promises';
import { type PackedBatch, unpackBatch } from '../../../src/areas/usage/events/packed-batch.ts';
import { BASE_PATH } from '../../../src/ingress/answer-request.ts';
import { realNow } from '../../../src/platform/clock/real-clock.ts';
import { createProducer, type Producer } from '../../../src/platform/queue/producer.ts';
import { transactionIdOf } from '../../data/event-source.ts';
import { incomingEvents } from '../../data/incoming.ts';
import { type Meter, openMeter } from '../../harness/costs.ts';
import { startProcess } from '../../harness/processes.ts';
import type { Findings } from '../../harness/report.ts';
import { interleave, median, type Ratio, ratioOf, spreadOf } from '../../harness/rounds.ts';
import { milliseconds, perSecond } from '../../harness/units.ts';
import type { ClosedResult, Load, OpenResult } from '../../load/messages.ts';
import { copyRows, openRawCopy } from '../../load/raw-copy.ts';
import { closedLoop, openLoop } from '../../load/run-load.ts';
import type { IngestRun } from './run.ts';

const CONNECTIONS = 100;
// 24 × 100 events: one organization may have half of the 5 000 that may wait in a process before it answers 503.
const BATCH_CONNECTIONS = 24;
const OPEN_CONNECTIONS = 300;
const EVENTS_PER_BATCH = 100;
const COPIES_A_ROUND = 400;
const OPEN_SHARES = [0.25, 0.5, 0.75];
const IDLE_AFTER_MS = 60_000;

/** G2, G4, G6, G7: one ingress and one host of all pools, as `npm start` runs them. */
export async function measureOverHttp(run: IngestRun, findings: Findings): Promise<void> {
  const { environment } = run;
  const stock = await startProcess(environment, 'bench/processes/stock-express.js');
  const workers = await startProcess(environment, 'workers/all.js');
  const ingress = await startProcess(environment, 'src/ingress/server.js');
  const producer = createProducer(environment.redis, environment.prefix);
  findings.notes.push('one ingress, one host with all pools, as npm start runs them');

  const drained = () => untilDrained(run, producer);
  await drained();
  const meters = {
    single: openMeter(environment, { ingress, workers }),
    batch: openMeter(environment, { ingress, workers }),
  };
  const ceiling = await measureSingles(
    run,
    findings,
    { stock: stock.url, ingress: ingress.url, drained },
    meters.single,
  );
  await measureBatches(run, findings, { ingress: ingress.url, drained }, meters.batch);
  await untilDrained(run, producer);
  await measureBacklog(run, findings, ingress.url, producer);
  await untilDrained(run, producer);
  await measureLatency(run, findings, { stock: stock.url, ingress: ingress.url, ceiling });
  await untilDrained(run, producer);

  await producer.close();
  await Promise.all([stock.stop(), ingress.stop(), workers.stop()]);
}

interface Seconds {
  warmUpSeconds: number;
  measuredSeconds: number;
}

type Loads = ReturnType<typeof loads>;

/** Requests to `POST /events` or `/events/batch` of one label, each number used once. */
function loads(run: IngestRun, url: string, label: string, eventsPerRequest: number, connections: number) {
  let firstRequest = 0;
  const source = run.source(label);
  const load = (): Load => ({
    url: `${url}${BASE_PATH}/events${eventsPerRequest > 1 ? '/batch' : ''}`,
    apiKey: run.organization.apiKey,
    source,
    eventsPerRequest,
    firstRequest,
    connections,
  });
  const note = (result: ClosedResult | OpenResult, isStored: boolean) => {
    firstRequest = result.nextRequest;
    if (!isStored) return;
    run.mustBeStored += (result.statuses['200'] ?? 0) * eventsPerRequest;
    for (const request of result.unanswered) {
      for (let index = 0; index < eventsPerRequest; index += 1)
        run.unknown.push(transactionIdOf(source, request * eventsPerRequest + index));
    }
  };
  return {
    async closed(seconds: Seconds, isStored = true): Promise<ClosedResult> {
      const result = await closedLoop({ ...load(), ...seconds });
      note(result, isStored);
      return result;
    },
    async open(ratePerSecond: number, seconds: number, isStored = true): Promise<OpenResult> {
      const result = await openLoop({ ...load(), ratePerSecond, seconds });
      note(result, isStored);
      return result;
    },
  };
}

/** @returns requests a second that the service reached */
async function measureSingles(
  run: IngestRun,
  findings: Findings,
  { stock, ingress, drained }: { stock: string; ingress: string; drained: () => Promise<void> },
  meter: Meter,
): Promise<number> {
  const seconds = { warmUpSeconds: run.effort.warmUpSeconds, measuredSeconds: run.effort.measuredSeconds };
  const plain = loads(run, stock, 'stock', 1, CONNECTIONS);
  const stored = loads(run, ingress, 'single', 1, CONNECTIONS);
  const figures = await interleave(run.effort.rounds, {
    baseline: async () => (await plain.closed(seconds, false)).requestsPerSecond,
    stored: () => meter.around(() => sent(stored, seconds, drained)),
  });
  findings.costs['event sent alone'] = meter.perUnit();
  findings.ratios.G2 = ratioOf(figures.stored, figures.baseline, figures.isNoisy);
  findings.absolute['stock Express + JSON body'] = perSecond(median(figures.baseline));
  findings.absolute['POST /events'] = perSecond(median(figures.stored));
  return median(figures.stored);
}

/** Sends as fast as it is taken; events whose later steps are still owed cost as well, so that they are waited for. */
async function sent(loads: Loads, seconds: Seconds, drained: () => Promise<void>, eventsPerRequest = 1) {
  const { requestsPerSecond, statuses } = await loads.closed(seconds);
  await drained();
  return { units: (statuses['200'] ?? 0) * eventsPerRequest, result: requestsPerSecond * eventsPerRequest };
}

async function measureBatches(
  run: IngestRun,
  findings: Findings,
  { ingress, drained }: { ingress: string; drained: () => Promise<void> },
  meter: Meter,
): Promise<void> {
  const seconds = { warmUpSeconds: run.effort.warmUpSeconds, measuredSeconds: run.effort.measuredSeconds };
  const copy = openRawCopy(run.environment, run.copyTable);
  const stored = loads(run, ingress, 'batch', EVENTS_PER_BATCH, BATCH_CONNECTIONS);
  let first = 0;
  const copyAll = async () => {
    const at = realNow().toString();
    const batches = Array.from({ length: COPIES_A_ROUND }, () => {
      first += EVENTS_PER_BATCH;
      return copyRows(run.organization.id, incomingEvents(run.source('copies'), first, EVENTS_PER_BATCH), at);
    });
    const started = performance.now();
    for (const batch of batches) await copy.copy(batch);
    return ((COPIES_A_ROUND * EVENTS_PER_BATCH) / (performance.now() - started)) * 1000;
  };
  const figures = await interleave(run.effort.rounds, {
    baseline: copyAll,
    stored: () => meter.around(() => sent(stored, seconds, drained, EVENTS_PER_BATCH)),
  });
  findings.costs['event of a batch'] = meter.perUnit();
  findings.ratios.G4 = ratioOf(figures.stored, figures.baseline, figures.isNoisy);
  findings.absolute['raw COPY of 100'] = perSecond(median(figures.baseline));
  findings.absolute['POST /events/batch, events'] = perSecond(median(figures.stored));
  findings.notes.push(
    'batches: 24 connections, as more than 2 500 events of an organization may not wait in a process',
  );
  await copy.close();
}

/**
 * G6: what is still owed at the end of a run at full load: events that no statement has stored yet, and stored ones
 * whose later steps are not done.
 */
async function measureBacklog(run: IngestRun, findings: Findings, url: string, producer: Producer): Promise<void> {
  const load = loads(run, url, 'saturating', 1, CONNECTIONS);
  const result = await load.closed({ warmUpSeconds: 0, measuredSeconds: run.effort.saturatingSeconds });
  const owed = await backlog(run, producer);
  const accepted = result.statuses['200'] ?? 0;
  findings.ratios.G6 = spreadOf([(owed.unstored + owed.unfinished) / accepted]);
  findings.absolute['saturating run'] =
    `${accepted} accepted, ${owed.unstored} not stored, ${owed.unfinished} unfinished`;
}

async function backlog({ environment, organization }: IngestRun, producer: Producer) {
  const [[row], jobs] = await Promise.all([
    environment.sql<{ unfinished: number }[]>`
      select coalesce(sum(cardinality(event_ids)), 0)::int as unfinished from event_batches
      where organization_ids @> array[${organization.id}::uuid]`,
    producer.queue('events').getJobs(['waiting', 'active']),
  ]);
  const batches = jobs.flatMap((job) => (job?.data as { batches?: PackedBatch[] } | undefined)?.batches ?? []);
  return {
    unstored: batches.reduce((events, batch) => events + unpackBatch(batch).events.length, 0),
    unfinished: row!.unfinished,
  };
}

async function untilDrained(run: IngestRun, producer: Producer): Promise<void> {
  const deadline = performance.now() + IDLE_AFTER_MS;
  for (;;) {
    const { unstored, unfinished } = await backlog(run, producer);
    if (unstored + unfinished === 0) return;
    if (performance.now() > deadline) throw new Error(`${unstored} events not stored, ${unfinished} not finished`);
    await pause(100);
  }
}

/** G7, and the same rates on an empty handler, which shows what generator and machine add. */
async function measureLatency(
  run: IngestRun,
  findings: Findings,
  { stock, ingress, ceiling }: { stock: string; ingress: string; ceiling: number },
): Promise<void> {
  const stored = loads(run, ingress, 'open', 1, OPEN_CONNECTIONS);
  const empty = loads(run, stock, 'empty', 1, OPEN_CONNECTIONS);
  const ratios: number[] = [];
  for (const share of OPEN_SHARES) {
    const rounds = share === 0.5 ? run.effort.rounds : 1;
    const results: OpenResult[] = [];
    const name = `open loop at ${share * 100} %`;
    for (let round = 0; round < rounds; round += 1)
      results.push(await stored.open(ceiling * share, run.effort.openLoopSeconds));
    const nothing = await empty.open(ceiling * share, run.effort.openLoopSeconds, false);
    if (share === 0.5) ratios.push(...results.map((result) => result.p99Ms / result.p50Ms));
    findings.absolute[name] = describe(results);
    findings.absolute[`${name}, empty handler`] = describe([nothing]);
  }
  const ratio: Ratio = spreadOf(ratios);
  findings.ratios.G7 = ratio;
}

const describe = (results: OpenResult[]): string =>
  `p50 ${milliseconds(median(results.map((result) => result.p50Ms)))}, ` +
  `p99 ${milliseconds(median(results.map((result) => result.p99Ms)))}`;
