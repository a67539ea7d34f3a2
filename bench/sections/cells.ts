import { digestOfKey } from '../../src/areas/tenancy/organizations/commands.ts';
import {
  connectControl,
  controlMigrations,
  forgetCell,
  insertCell,
  noteTenants,
} from '../../src/platform/cells/directory.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import type { OrganizationId } from '../../src/platform/ids.ts';
import { createBenchOrganization } from '../data/organization.ts';
import { sellCalls } from '../data/sell-calls.ts';
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
 * beside one cell with all of it. Each cell has an ingress and a host of all pools, which stay up meanwhile. S8: one
 * cell behind a directory beside the same without cells.
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
    await second.stop();
    const behind = await startBehindDirectory(environment, first);
    const directory = await interleave(effort.rounds, {
      baseline: alone,
      behind: first.rate(effort, CONNECTIONS, behind.url),
    });
    await behind.stop();
    await first.stop();
    findings.ratios.S8 = ratioOf(directory.behind, directory.baseline, directory.isNoisy);
    findings.ratios.S6 = ratioOf(figures.both, figures.baseline, figures.isNoisy);
    findings.absolute = {
      'POST /events, one cell': perSecond(median(figures.baseline)),
      'POST /events, two cells in sum': perSecond(median(figures.both)),
      'POST /events, no cells': perSecond(median(directory.baseline)),
      'POST /events, the one cell of a directory': perSecond(median(directory.behind)),
    };
    findings.notes.push('the processes of the second cell stay up, without work, while the first is measured alone');
  } finally {
    await other.close();
  }
  return findings;
}

/**
 * An ingress that finds the cell of a request in a directory, where the cell is the only one: what a service without
 * cells becomes. The workers are those of the cell.
 */
async function startBehindDirectory(environment: Environment, { id, apiKey }: { id: string; apiKey: string }) {
  const control = connectControl({ DATABASE_URL: environment.databaseUrl });
  await migrate(control, controlMigrations());
  await insertCell(control, {
    name: 'first',
    database: null,
    schema: environment.schema,
    redis_prefix: environment.prefix,
  });
  await noteTenants(control, 'first', [{ organizationId: id as OrganizationId, digests: [digestOfKey(apiKey)] }]);
  const ingress = await startProcess(environment, 'src/ingress/server.js', { CELLS: 'all' });
  return {
    url: ingress.url,
    async stop() {
      await ingress.stop();
      await forgetCell(control, 'first');
      await control.end({ timeout: 1 });
    },
  };
}

async function startCell(environment: Environment) {
  const at = Math.floor(Date.now() / 1000);
  const { id, apiKey } = await createBenchOrganization(environment, 'Bench cell');
  const workers = await startProcess(environment, 'workers/all.js');
  const ingress = await startProcess(environment, 'src/ingress/server.js');
  await sellCalls(environment, ingress.url, { id, apiKey }, at);
  return {
    id,
    apiKey,
    /** Events a second over so many connections, once a round. */
    rate: (effort: Effort, connections: number, url = ingress.url) =>
      eventRate(effort, apiKey, { label: `cell-${connections}-${url}`, at }, connections)(url),
    async stop() {
      await Promise.all([ingress.stop(), workers.stop()]);
    },
  };
}
