import { CatalogCache } from '../../src/areas/catalog/usage-shapes/storing-catalog.ts';
import { createFinisherNudge } from '../../src/areas/usage/ingest-events/nudge-finisher.ts';
import { storeEvents } from '../../src/areas/usage/ingest-events/store-events.ts';
import { incomingEvents, singleBatches } from '../data/incoming.ts';
import { createBenchOrganization } from '../data/organization.ts';
import { sellCallsBefore } from '../data/sell-calls.ts';
import type { Environment } from '../harness/environment.ts';
import type { Effort } from '../harness/options.ts';
import { emptyFindings, type Findings } from '../harness/report.ts';
import { interleave, median, ratioOf } from '../harness/rounds.ts';
import { openHarnessRuntime } from '../harness/runtime.ts';
import { perSecond } from '../harness/units.ts';

const CALLERS = 4;
const BATCH = 100;
const BATCHES_OF_A_CALLER = 50;
const LOOK_EVERY_MS = 10;

/**
 * S9: events that all add to one row of the hourly sums, stored by four callers at once in batches of 100, beside
 * events of a thousand subscriptions and five metrics. Also which share of the storing statements waited for a lock,
 * looked at every 10 ms.
 */
export async function measureHotRow(environment: Environment, effort: Effort): Promise<Findings> {
  const findings = emptyFindings();
  const at = Math.floor(Date.now() / 1000);
  const organization = await createBenchOrganization(environment, 'Bench hot row');
  const { id } = organization;
  await sellCallsBefore(environment, organization, at);

  const runtime = openHarnessRuntime(environment, 'bench hot row');
  const finisher = createFinisherNudge(runtime.producer);
  const deps = { ...runtime, finisher, catalogs: new CatalogCache() };
  let first = 0;
  const waits = { spread: [] as number[], hot: [] as number[] };
  const storing = (name: 'spread' | 'hot') => async (): Promise<number> => {
    const source = { label: name, at, isOneRow: name === 'hot' };
    const batches = Array.from({ length: CALLERS }, () =>
      Array.from({ length: BATCHES_OF_A_CALLER }, () => {
        const events = incomingEvents(source, first, BATCH);
        first += BATCH;
        return singleBatches(id, events);
      }),
    );
    const watch = watchLocks(environment);
    const started = performance.now();
    await Promise.all(
      batches.map(async (own) => {
        for (const batch of own) await storeEvents(deps, batch);
      }),
    );
    const seconds = (performance.now() - started) / 1000;
    waits[name].push(await watch.shareWaiting());
    return (CALLERS * BATCHES_OF_A_CALLER * BATCH) / seconds;
  };
  await storing('spread')();
  waits.spread.length = 0;
  const figures = await interleave(effort.rounds, { baseline: storing('spread'), hot: storing('hot') });
  await finisher.flush();
  await runtime.close();
  findings.ratios.S9 = ratioOf(figures.hot, figures.baseline, figures.isNoisy);
  findings.absolute = {
    'events of 1 000 subscriptions, four callers': perSecond(median(figures.baseline)),
    'events of one row of sums, four callers': perSecond(median(figures.hot)),
    'storing statements that wait for a lock, 1 000 subscriptions': `${(median(waits.spread) * 100).toFixed(1)} %`,
    'storing statements that wait for a lock, one row': `${(median(waits.hot) * 100).toFixed(1)} %`,
  };
  const [row] = await environment.sql<{ count: number }[]>`
    select count(*) as count from events where organization_id = ${id}`;
  findings.checks.push({ what: 'stored events', expected: first, found: row!.count });
  return findings;
}

/**
 * Looks again and again which of the connections of the storing callers wait for a lock. Postgres shows the first
 * thousand signs of a statement, by which it is known.
 */
function watchLocks({ sql }: Environment) {
  let [active, waiting] = [0, 0];
  const look = async () => {
    const [seen] = await sql<{ active: number; waiting: number }[]>`
      select count(*)::int as active, count(*) filter (where wait_event_type = 'Lock')::int as waiting
      from pg_stat_activity
      where state = 'active' and query like '%hold_shapes_version(used.id)%' and pid <> pg_backend_pid()`;
    active += seen!.active;
    waiting += seen!.waiting;
  };
  let looking = look();
  const timer = setInterval(() => {
    looking = looking.then(look);
  }, LOOK_EVERY_MS);
  return {
    async shareWaiting(): Promise<number> {
      clearInterval(timer);
      await looking;
      return active === 0 ? 0 : waiting / active;
    },
  };
}
