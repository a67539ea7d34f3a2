import { Client } from 'undici';
import { createBenchOrganization } from '../data/organization.ts';
import type { Environment } from '../harness/environment.ts';
import type { Effort } from '../harness/options.ts';
import { startProcess } from '../harness/processes.ts';
import { emptyFindings, type Findings } from '../harness/report.ts';
import { interleave, median, ratioOf } from '../harness/rounds.ts';
import { milliseconds } from '../harness/units.ts';
import { p50, postCustomer } from './write-through.ts';

/**
 * S3: a write over HTTP with the position up to which replicas must have come, which `READ_DATABASE_URL` turns on,
 * beside the same without. Both ways have processes and queues of their own. The primary stands for its replica, since
 * no read is measured.
 */
export async function measurePositions(environment: Environment, effort: Effort): Promise<Findings> {
  const findings = emptyFindings();
  const organization = await createBenchOrganization(environment, 'Bench positions');
  const plain = await startStack(environment, {});
  const positions = await startStack(environment, {
    REDIS_PREFIX: `${environment.prefix}:positions`,
    READ_DATABASE_URL: environment.databaseUrl,
  });
  const write = (client: Client) => () => p50(() => postCustomer(client, organization), effort);
  const figures = await interleave(effort.rounds, { baseline: write(plain.client), noted: write(positions.client) });
  findings.ratios.S3 = ratioOf(figures.noted, figures.baseline, figures.isNoisy);
  findings.absolute = {
    'POST /customers p50, no positions': milliseconds(median(figures.baseline)),
    'POST /customers p50, with positions': milliseconds(median(figures.noted)),
  };
  await Promise.all([plain.stop(), positions.stop()]);
  return findings;
}

async function startStack(environment: Environment, settings: Record<string, string>) {
  const workers = await startProcess(environment, 'workers/all.js', settings);
  const ingress = await startProcess(environment, 'src/ingress/server.js', settings);
  const client = new Client(ingress.url);
  return {
    client,
    async stop() {
      await client.close();
      await Promise.all([ingress.stop(), workers.stop()]);
    },
  };
}
