import { CatalogCache } from '../../src/areas/catalog/usage-shapes/storing-catalog.ts';
import { createFinisherNudge } from '../../src/areas/usage/ingest-events/nudge-finisher.ts';
import { storeEvents } from '../../src/areas/usage/ingest-events/store-events.ts';
import { incomingEvents, singleBatches } from '../data/incoming.ts';
import { createBenchOrganization } from '../data/organization.ts';
import { preloadEvents } from '../data/preload.ts';
import { sellCallsBefore } from '../data/sell-calls.ts';
import { type Environment, openCell } from '../harness/environment.ts';
import type { Effort } from '../harness/options.ts';
import { emptyFindings, type Findings } from '../harness/report.ts';
import { interleave, median, ratioOf } from '../harness/rounds.ts';
import { openHarnessRuntime } from '../harness/runtime.ts';
import { perSecond } from '../harness/units.ts';
import { withFormerKey } from '../load/former-key.ts';

const BATCH = 1000;
const BATCHES_A_ROUND = 20;
const WARM_UP_BATCHES = 5;
const PRELOADED_HOURS = 48;

/**
 * S1: events stored in batches of 1 000, with their rollups, by a table of keys beside the unique index of `events`
 * that kept them before: the same code with three parts of its statement exchanged, in a schema of its own with as many
 * events. Events are one table (decision 0039), so no partitions are in it.
 */
export async function measureFormerKey(environment: Environment, effort: Effort): Promise<Findings> {
  const findings = emptyFindings();
  const other = await openCell(environment);
  try {
    const keys = await openStore(environment, effort, { isFormer: false });
    const index = await openStore(other.environment, effort, { isFormer: true });
    for (let n = 0; n < WARM_UP_BATCHES; n += 1) await Promise.all([keys.store(1), index.store(1)]);
    const figures = await interleave(effort.rounds, {
      baseline: () => index.store(BATCHES_A_ROUND),
      keys: () => keys.store(BATCHES_A_ROUND),
    });
    findings.ratios.S1 = ratioOf(figures.keys, figures.baseline, figures.isNoisy);
    findings.absolute = {
      'storage function, unique index of events': perSecond(median(figures.baseline)),
      'storage function, table of keys': perSecond(median(figures.keys)),
    };
    findings.checks.push(await keys.check(), await index.check());
    await Promise.all([keys.close(), index.close()]);
  } finally {
    await other.close();
  }
  return findings;
}

async function openStore(environment: Environment, effort: Effort, { isFormer }: { isFormer: boolean }) {
  const { sql } = environment;
  const at = Math.floor(Date.now() / 1000);
  const organization = await createBenchOrganization(environment, 'Bench key');
  const { id } = organization;
  await sellCallsBefore(environment, organization, at);
  const rows = effort.preloadedRows;
  await preloadEvents(environment, [{ organizationId: id, rows, hours: PRELOADED_HOURS, label: 'preload' }]);
  if (isFormer) {
    await sql`create unique index events_former_key on events (organization_id, transaction_id, external_subscription_id)`;
    await sql`truncate event_keys`;
    await sql`vacuum analyze events`;
  }
  const runtime = openHarnessRuntime(environment, 'bench key');
  const finisher = createFinisherNudge(runtime.producer);
  const connection = isFormer ? withFormerKey(runtime.sql) : runtime.sql;
  const deps = { ...runtime, sql: connection, finisher, catalogs: new CatalogCache() };
  let first = 0;
  return {
    /** Events a second of so many batches, which are ready before the clock runs. */
    async store(count: number): Promise<number> {
      const batches = Array.from({ length: count }, () => {
        const events = incomingEvents({ label: 'key', at }, first, BATCH);
        first += BATCH;
        return singleBatches(id, events);
      });
      const started = performance.now();
      for (const batch of batches) await storeEvents(deps, batch);
      return ((count * BATCH) / (performance.now() - started)) * 1000;
    },
    async check() {
      const table = isFormer ? 'events' : 'event_keys';
      const [row] = await sql<{ count: number }[]>`
        select count(*) as count from ${sql(table)} where organization_id = ${id}`;
      return { what: `rows of ${table}`, expected: rows + first, found: row!.count };
    },
    async close() {
      await finisher.flush();
      await runtime.close();
    },
  };
}
