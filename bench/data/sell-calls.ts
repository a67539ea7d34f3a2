import type { Environment } from '../harness/environment.ts';
import { startProcess } from '../harness/processes.ts';
import { createPlan, createSubscriptions } from './catalog.ts';
import { openClient } from './client.ts';
import type { BenchOrganization } from './organization.ts';
import { untilShapesAreLive } from './shapes.ts';

/**
 * Gives an organization its plan and subscriptions through a running service, and waits until its rollups are live.
 *
 * at  seconds since 1970: subscriptions begin with its year
 */
export async function sellCalls(
  environment: Environment,
  url: string,
  { id, apiKey }: Pick<BenchOrganization, 'id' | 'apiKey'>,
  at: number,
): Promise<void> {
  const client = openClient(url, apiKey);
  await createPlan(client);
  await createSubscriptions(client, new Date(at * 1000).getUTCFullYear());
  await untilShapesAreLive(environment, [id]);
  await client.close();
}

/** The same through a service that runs for it alone. */
export async function sellCallsBefore(
  environment: Environment,
  organization: Pick<BenchOrganization, 'id' | 'apiKey'>,
  at: number,
): Promise<void> {
  const workers = await startProcess(environment, 'workers/all.js');
  const ingress = await startProcess(environment, 'src/ingress/server.js');
  await sellCalls(environment, ingress.url, organization, at);
  await Promise.all([ingress.stop(), workers.stop()]);
}
