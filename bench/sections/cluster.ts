import { findProgram } from '../../test/scale/support/programs.ts';
import { startCluster } from '../../test/scale/support/redis-cluster.ts';
import { createBenchOrganization } from '../data/organization.ts';
import { sellCalls } from '../data/sell-calls.ts';
import { type Environment, Missing } from '../harness/environment.ts';
import type { Effort } from '../harness/options.ts';
import { startProcess } from '../harness/processes.ts';
import { emptyFindings, type Findings } from '../harness/report.ts';
import { interleave, median, ratioOf } from '../harness/rounds.ts';
import { perSecond } from '../harness/units.ts';
import { eventRate } from '../load/event-rate.ts';

const MASTERS = 3;

/**
 * S5: events stored over a Redis Cluster of three masters beside a single Redis, both with their file of appended
 * commands, each with an ingress and a host of all pools, in turns.
 *
 * @throws Missing without a redis-server
 */
export async function measureCluster(environment: Environment, effort: Effort): Promise<Findings> {
  if (findProgram('redis-server') === undefined) throw new Missing('redis-server is not installed');
  const findings = emptyFindings();
  const at = Math.floor(Date.now() / 1000);
  const organization = await createBenchOrganization(environment, 'Bench cluster');
  const cluster = await startCluster({ folder: environment.folder, settings: ['--appendonly', 'yes'] });
  try {
    const single = await startStack(environment, {});
    await sellCalls(environment, single.url, organization, at);
    const three = await startStack(environment, { REDIS_URL: cluster.url, EVENTS_QUEUES: String(MASTERS) });
    const rate = eventRate(effort, organization.apiKey, { label: 'cluster', at });
    const figures = await interleave(effort.rounds, { baseline: rate(single.url), three: rate(three.url) });
    await Promise.all([single.stop(), three.stop()]);
    findings.ratios.S5 = ratioOf(figures.three, figures.baseline, figures.isNoisy);
    findings.absolute = {
      'POST /events, one Redis': perSecond(median(figures.baseline)),
      'POST /events, three masters': perSecond(median(figures.three)),
    };
    findings.notes.push('all nodes on this machine: what several machines would add is not measured');
  } finally {
    await cluster.stop();
  }
  return findings;
}

async function startStack(environment: Environment, settings: Record<string, string>) {
  const workers = await startProcess(environment, 'workers/all.js', settings);
  const ingress = await startProcess(environment, 'src/ingress/server.js', settings);
  return {
    url: ingress.url,
    async stop() {
      await Promise.all([ingress.stop(), workers.stop()]);
    },
  };
}
