import { Client } from 'undici';
import { BASE_PATH } from '../../src/ingress/answer-request.ts';
import { connectDatabase } from '../../src/platform/db/connect.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import { startOwnPostgres } from '../../test/scale/support/postgres.ts';
import { findProgram } from '../../test/scale/support/programs.ts';
import { createPlan, createSubscriptions } from '../data/catalog.ts';
import { openClient } from '../data/client.ts';
import { createBenchOrganization } from '../data/organization.ts';
import { untilShapesAreLive } from '../data/shapes.ts';
import { type Environment, Missing } from '../harness/environment.ts';
import type { Effort } from '../harness/options.ts';
import { startProcess } from '../harness/processes.ts';
import { emptyFindings, type Findings } from '../harness/report.ts';
import { interleave, median, percentile, ratioOf } from '../harness/rounds.ts';
import { milliseconds } from '../harness/units.ts';
import { openLoop } from '../load/run-load.ts';

/** Both servers write to the disk as in production. */
const DURABLE = { fsync: 'on', full_page_writes: 'on', shared_buffers: '256MB' };
const EVENTS_A_SECOND = 200;
const CONNECTIONS = 50;
const LISTS = ['/subscriptions?per_page=100', '/customers?per_page=50', '/plans?per_page=20'];

/**
 * S4: how long lists take, p99, that a read replica answers beside those of the primary, while another organization's
 * events are stored at a steady rate. A primary and a standby of their own on this machine, one host of all pools, and
 * an ingress each way.
 *
 * @throws Missing without a Postgres to start
 */
export async function measureReplica(given: Environment, effort: Effort): Promise<Findings> {
  if (findProgram('pg_basebackup') === undefined) throw new Missing('pg_basebackup is not installed');
  const findings = emptyFindings();
  const primary = await startOwnPostgres(DURABLE);
  const prefix = `${given.prefix}:replica`;
  const sql = connectDatabase(primary.url, { connections: 2, name: 'meterstone bench' });
  const environment = { ...given, databaseUrl: primary.url, schema: 'public', prefix, sql };
  await migrate(sql);
  const standby = await primary.standby({ hot_standby: 'on' });
  try {
    const reads = { READ_DATABASE_URL: standby.url };
    const at = Math.floor(Date.now() / 1000);
    const [reader, writer] = [
      await createBenchOrganization(environment, 'Reads'),
      await createBenchOrganization(environment, 'Writes'),
    ];
    const workers = await startProcess(environment, 'workers/all.js', reads);
    const plain = await startProcess(environment, 'src/ingress/server.js');
    const replicated = await startProcess(environment, 'src/ingress/server.js', reads);
    for (const { apiKey } of [reader, writer]) {
      const client = openClient(plain.url, apiKey);
      await createPlan(client);
      await createSubscriptions(client, new Date(at * 1000).getUTCFullYear());
      await client.close();
    }
    await untilShapesAreLive(environment, [reader.id, writer.id]);

    let firstRequest = 0;
    const listing = (url: string) => async () => {
      const seconds = effort.openLoopSeconds;
      const writing = openLoop({
        url: `${plain.url}${BASE_PATH}/events`,
        apiKey: writer.apiKey,
        source: { label: 'replica', at },
        eventsPerRequest: 1,
        firstRequest,
        connections: CONNECTIONS,
        ratePerSecond: EVENTS_A_SECOND,
        seconds,
      });
      firstRequest += EVENTS_A_SECOND * seconds;
      const p99 = await p99OfLists(url, reader.apiKey, seconds);
      await writing;
      return p99;
    };
    const figures = await interleave(effort.rounds, {
      baseline: listing(plain.url),
      replica: listing(replicated.url),
    });
    findings.ratios.S4 = ratioOf(figures.replica, figures.baseline, figures.isNoisy);
    findings.absolute = {
      'lists on the primary, p99': milliseconds(median(figures.baseline)),
      'lists on a replica, p99': milliseconds(median(figures.replica)),
    };
    const served = await servedByReplica(replicated.url);
    findings.checks.push({ what: 'lists that the primary answered for a replica', expected: 0, found: served.primary });
    if (served.replica === 0) throw new Error('the replica answered nothing');
    await Promise.all([plain.stop(), replicated.stop()]);
    await workers.stop();
  } finally {
    await sql.end({ timeout: 1 });
    await standby.stop();
    await primary.stop();
  }
  findings.notes.push('primary and standby share this machine: what a machine of its own would add is not measured');
  return findings;
}

/** Of one caller, who reads the lists in turns for so long. */
async function p99OfLists(url: string, apiKey: string, seconds: number): Promise<number> {
  const client = new Client(url);
  const took: number[] = [];
  const until = performance.now() + seconds * 1000;
  for (let n = 0; performance.now() < until; n += 1) {
    const started = performance.now();
    const { statusCode, body } = await client.request({
      method: 'GET',
      path: `${BASE_PATH}${LISTS[n % LISTS.length]}`,
      headers: { authorization: `Bearer ${apiKey}` },
    });
    await body.dump();
    if (statusCode !== 200) throw new Error(`a list answered ${statusCode}`);
    took.push(performance.now() - started);
  }
  await client.close();
  return percentile(took, 0.99);
}

/** Reads that a replica may answer, by who answered them. */
async function servedByReplica(url: string): Promise<{ replica: number; primary: number }> {
  const text = await fetch(`${url}/metrics`).then((answer) => answer.text());
  const by = (server: string) =>
    [
      ...text.matchAll(new RegExp(`^meterstone_replica_reads_total\\{.*served_by="${server}".*\\} (\\d+)`, 'gm')),
    ].reduce((sum, [, count]) => sum + Number(count), 0);
  return { replica: by('replica'), primary: by('primary') };
}
