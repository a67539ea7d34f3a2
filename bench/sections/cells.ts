import { createPlan, createSubscriptions } from '../data/catalog.ts';
import { openClient } from '../data/client.ts';
import { createBenchOrganization } from '../data/organization.ts';
import { untilShapesAreLive } from '../data/shapes.ts';
import { type Environment, openCell } from '../harness/environment.ts';
import type { Effort } from '../harness/options.ts';
import { startProcess } from '../harness/processes.ts';
import { emptyFindings, type Findings } from '../harness/report.ts';
import { interleave, median, ratioOf } from '../harness/rounds.ts';
import { perSecond } from '../harness/units.ts';
import { eventRate } from '../load/event-rate.ts';

const CONNECTIONS = 100;

/**
 * S6: events stored in two cells of one server, each a schema with a prefix of its own in Redis and half of the load,
 * beside one cell with all of it. Each cell has an ingress and a host of all pools, which stay up meanwhile.
 */
export async function measureCells(environment: Environment, effort: Effort): Promise<Findings> {
  const findings = emptyFindings();
  const other = await openCell(environment);
  try {
    const [first, second] = [await startCell(environment), await startCell(other.environment)];
    const alone = first.rate(effort, CONNECTIONS);
    const halves = [first.rate(effort, CONNECTIONS / 2), second.rate(effort, CONNECTIONS / 2)];
    const both = async () => {
      const rates = await Promise.all(halves.map((measure) => measure()));
      return rates.reduce((sum, rate) => sum + rate, 0);
    };
    const figures = await interleave(effort.rounds, { baseline: alone, both });
    await Promise.all([first.stop(), second.stop()]);
    findings.ratios.S6 = ratioOf(figures.both, figures.baseline, figures.isNoisy);
    findings.absolute = {
      'POST /events, one cell': perSecond(median(figures.baseline)),
      'POST /events, two cells in sum': perSecond(median(figures.both)),
    };
    findings.notes.push('the processes of the second cell stay up, without work, while the first is measured alone');
  } finally {
    await other.close();
  }
  return findings;
}

async function startCell(environment: Environment) {
  const at = Math.floor(Date.now() / 1000);
  const { id, apiKey } = await createBenchOrganization(environment, 'Bench cell');
  const workers = await startProcess(environment, 'workers/all.js');
  const ingress = await startProcess(environment, 'src/ingress/server.js');
  const client = openClient(ingress.url, apiKey);
  await createPlan(client);
  await createSubscriptions(client, new Date(at * 1000).getUTCFullYear());
  await untilShapesAreLive(environment, [id]);
  await client.close();
  return {
    /** Events a second over so many connections, once a round. */
    rate: (effort: Effort, connections: number) =>
      eventRate(effort, apiKey, { label: `cell-${connections}`, at }, connections)(ingress.url),
    async stop() {
      await Promise.all([ingress.stop(), workers.stop()]);
    },
  };
}
