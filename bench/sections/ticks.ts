import { claimTick } from '../../src/jobs/periodic-jobs/queries.ts';
import { runTick } from '../../src/jobs/run-periodic/run-tick.ts';
import { periodicJobs, sweepJobs } from '../../src/periodic-jobs.ts';
import { realNow } from '../../src/platform/clock/real-clock.ts';
import type { Runtime } from '../../src/platform/process/runtime.ts';
import { copyTemplate, createTemplate, makeDue } from '../data/burst.ts';
import { openClient } from '../data/client.ts';
import { createBenchOrganization } from '../data/organization.ts';
import type { Environment } from '../harness/environment.ts';
import type { Effort } from '../harness/options.ts';
import { startProcess } from '../harness/processes.ts';
import { emptyFindings, type Findings } from '../harness/report.ts';
import { median, ratioOf } from '../harness/rounds.ts';
import { openHarnessRuntime } from '../harness/runtime.ts';
import { perSecond } from '../harness/units.ts';

/** How many are due in the baseline: they fit into one page. */
const FEW = 10_000;
const MIB = 1024 ** 2;

/* Takes all waiting jobs out of a queue. KEYS jobs with a priority · ARGV prefix of a job's key */
const DRAIN = `
local ids = redis.call('ZRANGE', KEYS[1], 0, -1)
for _, id in ipairs(ids) do redis.call('UNLINK', ARGV[1] .. id) end
redis.call('UNLINK', KEYS[1])
return #ids
`;

/**
 * S7: items a second that the tick `bill` hands out, with a million customers due against ten thousand. The queue is
 * emptied between the slices of a tick, outside the measured time; nothing is billed, so that the same are due again.
 */
export async function measureTicks(environment: Environment, effort: Effort): Promise<Findings> {
  const findings = emptyFindings();
  const { id, apiKey } = await createBenchOrganization(environment, 'Bench ticks');
  await prepare(environment, apiKey);
  await copyTemplate(environment, id, 'few', FEW);
  await copyTemplate(environment, id, 'many', effort.due - FEW);
  await makeDue(environment, id, 'few');
  await environment.sql.unsafe('vacuum (analyze) subscriptions');

  const runtime = openHarnessRuntime(environment, 'bench ticks');
  await handOut(environment, runtime); // compiles the code
  const [few, many]: [Tick[], Tick[]] = [[], []];
  for (let round = 0; round < effort.rounds; round += 1) few.push(await handOut(environment, runtime));
  await makeDue(environment, id, 'many');
  await environment.sql.unsafe('vacuum (analyze) subscriptions');
  const rounds = Math.min(effort.rounds, effort.dueRounds);
  for (let round = 0; round < rounds; round += 1) many.push(await handOut(environment, runtime));

  const rates = (ticks: readonly Tick[]) => ticks.map(({ items, seconds }) => items / seconds);
  findings.ratios.S7 = ratioOf(rates(many), rates(few), false);
  findings.absolute = {
    [`${FEW} due`]: perSecond(median(rates(few))),
    [`${effort.due} due`]: perSecond(median(rates(many))),
  };
  findings.checks.push(
    { what: 'items of a tick with few due', expected: FEW, found: few[0]!.items },
    { what: 'items of a tick with many due', expected: effort.due, found: many[0]!.items },
  );
  const most = Math.max(...many.map(({ mostBytes }) => mostBytes));
  findings.notes.push(`memory beyond the start: at most ${(most / MIB).toFixed(0)} MiB`);
  await runtime.close();
  return findings;
}

async function prepare(environment: Environment, apiKey: string): Promise<void> {
  const workers = await startProcess(environment, 'workers/all.js');
  const ingress = await startProcess(environment, 'src/ingress/server.js');
  const client = openClient(ingress.url, apiKey);
  await createTemplate(client);
  await client.close();
  await Promise.all([ingress.stop(), workers.stop()]);
}

interface Tick {
  items: number;
  seconds: number;
  mostBytes: number;
}

/** One tick, in as many slices as the queue needs. */
async function handOut({ redis, prefix }: Environment, runtime: Runtime): Promise<Tick> {
  const drain = () => redis.eval(DRAIN, 1, `${prefix}:billing:prioritized`, `${prefix}:billing:`) as Promise<number>;
  await drain();
  const at = realNow();
  await claimTick(runtime.sql, 'bill', { tickAt: at, realNow: at });
  const before = usedBytes();
  let mostBytes = 0;
  const own = runtime.producer;
  const producer: typeof own = {
    ...own,
    async addMany(name, items) {
      await own.addMany(name, items);
      mostBytes = Math.max(mostBytes, usedBytes() - before);
    },
  };
  let [items, seconds] = [0, 0];
  for (let isOver = false; !isOver; ) {
    const started = performance.now();
    isOver = await runTick(
      { ...runtime, producer },
      { periodicJobs, sweepJobs } as never,
      { job: 'bill', at: at.toString() },
      { lastAttempt: true },
    );
    seconds += (performance.now() - started) / 1000;
    items += await drain();
  }
  return { items, seconds, mostBytes };
}

const usedBytes = (): number => {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};
