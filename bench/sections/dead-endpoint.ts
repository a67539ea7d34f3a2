import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { realNow } from '../../src/platform/clock/real-clock.ts';
import { newId } from '../../src/platform/ids.ts';
import { createBenchOrganization } from '../data/organization.ts';
import { type Environment, Missing } from '../harness/environment.ts';
import { startProcess } from '../harness/processes.ts';
import { emptyFindings, type Findings } from '../harness/report.ts';
import { spreadOf } from '../harness/rounds.ts';

const WAITING = 100_000;
/** Long enough that the hundredth of a core which is asked for is 30 ticks of the kernel's clock. */
const MEASURED_MS = 30_000;
/** A start and the storing of many rows leave background work; the measurement waits for it. */
const SETTLED_MS = 10_000;
const LOOK_EVERY_MS = 250;
/** Ticks a second of processor times in /proc, on every Linux. */
const TICKS = 100;
/** Nothing listens there. */
const DEAD_URL = 'http://127.0.0.1:9/hook';
/** Failures of the endpoint so far: its circuit is open. */
const FAILURES = 20;

/**
 * G24: processor time of workers, Postgres and Redis while 100 000 deliveries wait behind a dead endpoint, compared
 * with the same service without such deliveries, as a share of one core. Sweeps and probes go on meanwhile.
 */
export async function measureDeadEndpoint(environment: Environment): Promise<Findings> {
  const findings = emptyFindings();
  const workers = await startProcess(environment, 'workers/all.js', { WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' });
  const measure = async () => {
    await pause(SETTLED_MS);
    const [before, started] = [await secondsUsed(environment, workers.pid), performance.now()];
    await pause(MEASURED_MS);
    return ((await secondsUsed(environment, workers.pid)) - before) / ((performance.now() - started) / 1000);
  };
  const quiet = await measure();
  const endpointId = await makeDeadEndpoint(environment);
  const dead = await measure();
  findings.ratios.G24 = spreadOf([Math.max(0, dead - quiet)]);
  findings.notes.push(
    `${(quiet * 100).toFixed(2)} % of a core with none waiting, ${(dead * 100).toFixed(2)} % behind it`,
  );
  const [row] = await environment.sql<{ waiting: number }[]>`
    select count(*)::int as waiting from webhook_deliveries
    where webhook_endpoint_id = ${endpointId} and status in ('pending', 'retrying')`;
  findings.checks.push({ what: 'deliveries that still wait', expected: WAITING, found: row!.waiting });
  await workers.stop();
  return findings;
}

async function makeDeadEndpoint(environment: Environment): Promise<string> {
  const { sql } = environment;
  const organization = await createBenchOrganization(environment, 'Bench dead endpoint');
  const id = newId();
  const since = realNow().subtract({ minutes: 10 });
  await sql`
    insert into webhook_endpoints (id, organization_id, webhook_url, signature_algo, secret, consecutive_failures,
      failures_since, circuit_open_until, created_at, updated_at)
    values (${id}, ${organization.id}, ${DEAD_URL}, 'hmac', 'whsec_', ${FAILURES}, ${since}, ${since}, ${since},
      ${since})`;
  await sql`
    with event as (
      insert into webhook_events (id, organization_id, webhook_type, object_type, occurred_at, payload, created_at)
      select gen_random_uuid(), ${organization.id}, 'invoice.created', 'invoice', ${since}, '{}', ${since}
      from generate_series(1, ${WAITING}::int)
      returning id
    )
    insert into webhook_deliveries (id, organization_id, webhook_endpoint_id, event_id, endpoint, next_attempt_at,
      created_at, updated_at)
    select gen_random_uuid(), ${organization.id}, ${id}, event.id, ${DEAD_URL}, ${since}, ${since},
      ${since} from event`;
  await sql`vacuum analyze webhook_deliveries`;
  // Stored events get their place in the feed once; waiting does not cost that.
  while ((await sql`select from webhook_events where sequence is null limit 1`).length > 0) await pause(LOOK_EVERY_MS);
  return id;
}

/** Processor seconds that the workers, Redis and all of Postgres have used so far. */
async function secondsUsed({ sql, redis }: Environment, workers: number): Promise<number> {
  const info = await redis.info('cpu');
  const redisSeconds = ['used_cpu_user', 'used_cpu_sys'].reduce(
    (sum, field) => sum + Number(new RegExp(`^${field}:(.*)$`, 'm').exec(info)![1]),
    0,
  );
  const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  const postmaster = statOf(row!.pid)?.parent;
  if (postmaster === undefined) throw new Missing('processor times of processes are not shown here');
  const backends = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => statOf(Number(name)) ?? []);
  const postgresTicks = backends
    .filter(({ pid, parent }) => parent === postmaster || pid === postmaster)
    .reduce((sum, { pid, own, ended }) => sum + own + (pid === postmaster ? ended : 0), 0);
  return redisSeconds + (postgresTicks + statOf(workers)!.own) / TICKS;
}

/** For a process: its parent, its ticks and those of its ended children; undefined when it has ended. */
function statOf(pid: number): { pid: number; parent: number; own: number; ended: number } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    return { pid, parent: fields[1]!, own: fields[11]! + fields[12]!, ended: fields[13]! + fields[14]! };
  } catch {
    return undefined;
  }
}
