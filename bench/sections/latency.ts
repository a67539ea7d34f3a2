import { Client } from 'undici';
import { BASE_PATH } from '../../src/ingress/answer-request.ts';
import { realNowMs } from '../../src/platform/clock/real-clock.ts';
import { requestBody } from '../data/event-source.ts';
import { type BenchOrganization, createBenchOrganization } from '../data/organization.ts';
import { sellCalls } from '../data/sell-calls.ts';
import type { Environment } from '../harness/environment.ts';
import type { Effort } from '../harness/options.ts';
import { startProcess } from '../harness/processes.ts';
import { emptyFindings, type Findings } from '../harness/report.ts';
import { interleave, median, ratioOf } from '../harness/rounds.ts';
import { openHarnessRuntime } from '../harness/runtime.ts';
import { milliseconds } from '../harness/units.ts';
import { medianSteps, STEPS, type StepsOfWrite, stepsOfWrites } from '../load/steps-of-write.ts';
import { customerOf, insertBarely, p50, timesOf } from './write-through.ts';

const STAMPED = ['bench/processes/stamp-steps.js'];

/**
 * Where the milliseconds of one write go that is alone on the machine: `POST /events` and `POST /customers` step by
 * step, as multiples of a bare insert with commit of the same run, beside the least that a way over a queue takes.
 */
export async function measureLatency(environment: Environment, effort: Effort): Promise<Findings> {
  const findings = emptyFindings();
  const organization = await createBenchOrganization(environment, 'Bench latency');
  const bare = await openBareWrite(environment);
  const workers = await startProcess(environment, 'workers/all.js', {}, STAMPED);
  const ingress = await startProcess(environment, 'src/ingress/server.js', {}, STAMPED);
  await sellCalls(environment, ingress.url, organization, realNowMs() / 1000);
  const runtime = openHarnessRuntime(environment, 'bench latency');
  const client = new Client(ingress.url);
  const post = (path: string, body: () => string) => () => send(client, { organization, path, body: body() });
  const source = { label: 'alone', at: Math.floor(realNowMs() / 1000) };
  let event = 0;
  const writes = {
    'POST /events': post('/events', () => {
      event += 1;
      return requestBody(source, event, 1);
    }),
    'POST /customers': post('/customers', () => JSON.stringify({ customer: customerOf() })),
  };
  const steps: Record<keyof typeof writes, StepsOfWrite[]> = { 'POST /events': [], 'POST /customers': [] };
  const stamped = (name: keyof typeof writes) => async () => {
    await Promise.all([ingress.stamps(), workers.stamps()]); // what the warm-up and other measures left
    const { all, measured } = await timesOf(writes[name], effort);
    const [atDoor, atWork] = await Promise.all([ingress.stamps(), workers.stamps()]);
    steps[name].push(...stepsOfWrites(all, atDoor, atWork).slice(-measured.length));
    return median(measured);
  };

  const figures = await interleave(effort.rounds, {
    baseline: () => p50(() => insertBarely(runtime, organization), effort),
    'round trip to Postgres': () => p50(() => runtime.sql`select 1`, effort),
    'round trip to Redis': () => p50(() => runtime.redis.ping(), effort),
    'least write over a queue': () => p50(bare.post, effort),
    'POST /events': stamped('POST /events'),
    'POST /customers': stamped('POST /customers'),
  });
  findings.ratios.G26 = ratioOf(figures['POST /events'], figures.baseline, figures.isNoisy);
  findings.ratios.G27 = ratioOf(figures['POST /customers'], figures.baseline, figures.isNoisy);
  const { isNoisy: _, baseline, ...others } = figures;
  const insert = median(baseline);
  findings.notes.push(`a bare insert with commit: ${milliseconds(insert)}; all below in multiples of it`);
  for (const [name, values] of Object.entries(others)) {
    findings.notes.push(`${name}: ${(median(values) / insert).toFixed(2)} (${milliseconds(median(values))})`);
    if (!(name in steps)) continue;
    const { ms, whole, trips, redisWrites } = medianSteps(steps[name as keyof typeof steps]);
    const times = (value: number) => (value / insert).toFixed(2);
    for (const step of STEPS) findings.notes.push(`  ${step}: ${times(ms[step])}`);
    findings.notes.push(
      `  all writes of all rounds: ${times(whole)}; the worker writes ${redisWrites} times to Redis`,
      `  ${trips.length} round trips to Postgres, each until the next: ${trips.map(times).join(', ')}`,
    );
  }

  await client.close();
  await runtime.close();
  await bare.stop();
  await Promise.all([ingress.stop(), workers.stop()]);
  return findings;
}

async function openBareWrite(environment: Environment) {
  await environment.sql`create table bare_writes (id text primary key, body text not null)`;
  const start = (BENCH_ROLE: string) => startProcess(environment, 'bench/processes/bare-write.js', { BENCH_ROLE });
  const [worker, door] = await Promise.all([start('worker'), start('door')]);
  const client = new Client(door.url);
  return {
    async post() {
      const body = JSON.stringify({ customer: customerOf() });
      const answer = await client.request({ method: 'POST', path: '/', body });
      if ((await answer.body.text()) !== body) throw new Error('a bare write was answered with something else');
    },
    async stop() {
      await client.close();
      await Promise.all([worker.stop(), door.stop()]);
    },
  };
}

interface Post {
  organization: BenchOrganization;
  path: string;
  body: string;
}

async function send(client: Client, { organization, path, body }: Post): Promise<void> {
  const headers = { authorization: `Bearer ${organization.apiKey}`, 'content-type': 'application/json' };
  const answer = await client.request({ method: 'POST', path: `${BASE_PATH}${path}`, headers, body });
  await answer.body.dump();
  if (answer.statusCode !== 200) throw new Error(`POST ${path} answered ${answer.statusCode}`);
}
