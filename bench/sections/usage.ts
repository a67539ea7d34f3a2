import { Temporal } from 'temporal-polyfill';
import { showCurrentUsage } from '../../src/areas/usage/usage/current-usage.ts';
import { CurrentUsageQuery } from '../../src/areas/usage/usage/schema.ts';
import { countUsage } from '../../src/areas/usage/usage-counts/count-usage.ts';
import type { ChargeToCount, CountedCharge } from '../../src/areas/usage/usage-counts/request.ts';
import { realNow } from '../../src/platform/clock/real-clock.ts';
import type { Context } from '../../src/platform/context.ts';
import type { Runtime } from '../../src/platform/process/runtime.ts';
import { createPlan, createReader, READER } from '../data/catalog.ts';
import { chargesToCount } from '../data/charges-to-count.ts';
import { openClient } from '../data/client.ts';
import { createBenchOrganization } from '../data/organization.ts';
import { type Preload, preloadEvents } from '../data/preload.ts';
import { untilShapesAreLive } from '../data/shapes.ts';
import type { Environment } from '../harness/environment.ts';
import type { Effort } from '../harness/options.ts';
import { startProcess } from '../harness/processes.ts';
import { emptyFindings, type Findings } from '../harness/report.ts';
import { interleave, median, ratioOf } from '../harness/rounds.ts';
import { openHarnessRuntime } from '../harness/runtime.ts';
import { milliseconds } from '../harness/units.ts';

const SUBSCRIPTION = 'metered';
const HOURS = 28 * 24;
/** The events of the other subscriptions make the table large; a day of them holds as many groups as a month. */
const HOURS_OF_OTHERS = 24;
/** Within the shortest month. */
const HOURS_OF_READER = 26 * 24;
const SMALL_ROWS = 100_000;
const MOST_ROWS_OF_SUBSCRIPTION = 1_000_000;
const READS_A_ROUND = 15;
const CHARGES_A_METRIC = 4;

interface Case {
  organizationId: string;
  charges: ChargeToCount[];
}

/**
 * G17: the whole read of a customer's current usage with 20 charges, 5 of them over 50 groups, against the shortest
 * statement. G10, G11: current usage of one subscription, by buckets and by scan, in a large table
 * and in a small one.
 */
export async function measureUsage(environment: Environment, effort: Effort): Promise<Findings> {
  const findings = emptyFindings();
  await environment.sql`truncate events, event_keys`;
  const large = await createBenchOrganization(environment, 'Bench usage large');
  const small = await createBenchOrganization(environment, 'Bench usage small');
  const reader = await createBenchOrganization(environment, 'Bench usage reader');
  const metered = Math.min(effort.usageRows, MOST_ROWS_OF_SUBSCRIPTION);
  const others = effort.usageRows - metered;
  const rows = { subscription: SUBSCRIPTION, hours: HOURS, label: 'usage' };
  const preloads: Preload[] = [
    { ...rows, organizationId: large.id, rows: metered },
    { ...rows, organizationId: small.id, rows: SMALL_ROWS },
    { ...rows, organizationId: reader.id, rows: MOST_ROWS_OF_SUBSCRIPTION, hours: HOURS_OF_READER, label: 'reader' },
  ];
  if (others > 0) preloads.push({ organizationId: large.id, rows: others, hours: HOURS_OF_OTHERS, label: 'others' });
  await preloadEvents(environment, preloads);

  const workers = await startProcess(environment, 'workers/all.js');
  const ingress = await startProcess(environment, 'src/ingress/server.js');
  for (const organization of [large, small]) {
    const client = openClient(ingress.url, organization.apiKey);
    await createPlan(client);
    await client.close();
  }
  const client = openClient(ingress.url, reader.apiKey);
  await createReader(
    client,
    SUBSCRIPTION,
    realNow()
      .subtract({ hours: HOURS_OF_READER + 24 })
      .toString(),
  );
  await client.close();
  await untilShapesAreLive(environment, [large.id, small.id, reader.id]);
  await Promise.all([ingress.stop(), workers.stop()]);
  await environment.sql.unsafe('vacuum analyze usage_buckets');

  const runtime = openHarnessRuntime(environment, 'bench usage');
  const to = realNow();
  const window = { from: to.subtract(Temporal.Duration.from({ hours: HOURS - 1 })), to };
  const caseOf = async (organizationId: string): Promise<Case> => ({
    organizationId,
    charges: await chargesToCount(environment, organizationId, SUBSCRIPTION, window),
  });
  const big = await caseOf(large.id);
  const little = await caseOf(small.id);
  const reads = (of: Case) => async () => timesOf(READS_A_ROUND, () => countUsage(runtime.sql, of));

  const figures = await interleave(effort.rounds, {
    baseline: () => timesOf(1, () => scan(runtime, big)),
    buckets: reads(big),
  });
  const sizes = await interleave(effort.rounds, { baseline: reads(little), large: reads(big) });
  const readings = await interleave(effort.rounds, {
    baseline: () => timesOf(READS_A_ROUND, () => runtime.sql`select 1`),
    reads: () => timesOf(READS_A_ROUND, () => readUsage(runtime, reader.id)),
  });
  findings.ratios.G17 = ratioOf(readings.reads, readings.baseline, readings.isNoisy);
  findings.checks.push({
    what: 'events in the usage of 20 charges',
    expected: String(MOST_ROWS_OF_SUBSCRIPTION * CHARGES_A_METRIC),
    found: String((await readUsage(runtime, reader.id)).reduce((total, each) => total + each.events_count, 0)),
  });
  findings.ratios.G10 = ratioOf(figures.buckets, figures.baseline, figures.isNoisy);
  findings.ratios.G11 = ratioOf(sizes.large, sizes.baseline, sizes.isNoisy);
  for (const [name, each] of [['large', big] as const, ['small', little] as const]) {
    const [byBuckets, byScan] = await Promise.all([countUsage(runtime.sql, each), scan(runtime, each)]);
    findings.checks.push({
      what: `usage by buckets = by scan, ${name} table`,
      expected: textOf(byScan),
      found: textOf(byBuckets),
    });
  }
  findings.absolute = {
    'scan of the subscription': milliseconds(median(figures.baseline)),
    'buckets, large table': milliseconds(median(sizes.large)),
    'buckets, 100 000 events': milliseconds(median(sizes.baseline)),
    'current usage of 20 charges': milliseconds(median(readings.reads)),
    'select 1': milliseconds(median(readings.baseline)),
  };
  findings.notes.push(`${effort.usageRows} events, ${metered} of them in the subscription, ${HOURS} hours, 5 charges`);
  await runtime.close();
  return findings;
}

/** The read of the API, beside the ingress. */
async function readUsage({ sql, config, log }: Runtime, organizationId: string) {
  const now = realNow();
  const context = { organizationId, db: sql, config, log, now: () => now } as unknown as Context;
  const query = CurrentUsageQuery.parse({ external_subscription_id: SUBSCRIPTION });
  const { customer_usage: usage } = await showCurrentUsage(context, { external_customer_id: READER, query });
  return usage.charges_usage;
}

const scan = ({ sql }: Runtime, each: Case): Promise<CountedCharge[]> => countUsage(sql, { ...each, mode: 'scan' });

/** Median time in milliseconds. */
async function timesOf(count: number, call: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const start = performance.now();
    await call();
    times.push(performance.now() - start);
  }
  return median(times);
}

const textOf = (charges: CountedCharge[]): string => JSON.stringify(charges);
