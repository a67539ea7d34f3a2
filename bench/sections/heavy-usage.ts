import { Temporal } from 'temporal-polyfill';
import { showCurrentUsage } from '../../src/areas/usage/usage/current-usage.ts';
import { CurrentUsageQuery } from '../../src/areas/usage/usage/schema.ts';
import type { Context } from '../../src/platform/context.ts';
import type { Runtime } from '../../src/platform/process/runtime.ts';
import { openClient } from '../data/client.ts';
import { createHeavyPlan, fillHeavy } from '../data/heavy-usage.ts';
import { createBenchOrganization } from '../data/organization.ts';
import { untilShapesAreLive } from '../data/shapes.ts';
import type { Environment } from '../harness/environment.ts';
import type { Effort } from '../harness/options.ts';
import { startProcess } from '../harness/processes.ts';
import { emptyFindings, type Findings } from '../harness/report.ts';
import { interleave, median, ratioOf } from '../harness/rounds.ts';
import { openHarnessRuntime } from '../harness/runtime.ts';
import { milliseconds } from '../harness/units.ts';

const HEAVY = 240_000;
const SMALL = 2_400;
const READS_A_ROUND = 9;
const NOW = Temporal.Instant.from('2024-02-29T20:30:00Z');

/**
 * G23: current usage of a subscription of 240 000 events on seven charges, unique counts and weighted sums among them,
 * against the same of 2 400 events: the whole read of the API, beside the ingress.
 */
export async function measureHeavyUsage(environment: Environment, effort: Effort): Promise<Findings> {
  const findings = emptyFindings();
  await environment.sql`truncate events, event_keys`;
  const { id, apiKey } = await createBenchOrganization(environment, 'Bench heavy usage');
  const workers = await startProcess(environment, 'workers/all.js');
  const ingress = await startProcess(environment, 'src/ingress/server.js');
  const client = openClient(ingress.url, apiKey);
  await fillHeavy(environment, id, 'heavy', HEAVY);
  await fillHeavy(environment, id, 'small', SMALL);
  await createHeavyPlan(client, ['heavy', 'small']);
  await untilShapesAreLive(environment, [id]);
  await client.close();
  await Promise.all([ingress.stop(), workers.stop()]);
  await environment.sql.unsafe('vacuum analyze usage_buckets, usage_uniques, usage_days');

  const runtime = openHarnessRuntime(environment, 'bench heavy usage');
  const reads = (name: string) => async () => {
    const times: number[] = [];
    for (let n = 0; n < READS_A_ROUND; n += 1) {
      const started = performance.now();
      await read(runtime, id, name);
      times.push(performance.now() - started);
    }
    return median(times);
  };
  const figures = await interleave(effort.rounds, { baseline: reads('small'), heavy: reads('heavy') });
  findings.ratios.G23 = ratioOf(figures.heavy, figures.baseline, figures.isNoisy);
  findings.absolute = {
    [`usage of ${HEAVY} events`]: milliseconds(median(figures.heavy)),
    [`usage of ${SMALL} events`]: milliseconds(median(figures.baseline)),
  };
  const usage = await read(runtime, id, 'heavy');
  const unique = usage.find(({ billable_metric }) => billable_metric.code === 'users')!;
  findings.checks.push({ what: 'values in use of the unique count', expected: '24000.0', found: unique.units });
  await runtime.close();
  return findings;
}

async function read({ sql, config, log }: Runtime, organizationId: string, name: string) {
  const context = { organizationId, db: sql, config, log, now: () => NOW } as unknown as Context;
  const query = CurrentUsageQuery.parse({ external_subscription_id: name });
  const { customer_usage: usage } = await showCurrentUsage(context, { external_customer_id: name, query });
  return usage.charges_usage;
}
