import { runTick } from '../../src/jobs/run-periodic/run-tick.ts';
import { periodicJobs, sweepJobs } from '../../src/periodic-jobs.ts';
import type { Runtime } from '../../src/platform/process/runtime.ts';
import { copyTemplate, createTemplate, makeDue, sendUsage, TICK } from '../data/burst.ts';
import { openClient } from '../data/client.ts';
import { createBenchOrganization } from '../data/organization.ts';
import { openMeter } from '../harness/costs.ts';
import type { Environment } from '../harness/environment.ts';
import type { Effort } from '../harness/options.ts';
import { startProcess } from '../harness/processes.ts';
import { emptyFindings, type Findings } from '../harness/report.ts';
import { interleave, median, ratioOf } from '../harness/rounds.ts';
import { openHarnessRuntime } from '../harness/runtime.ts';
import { type Billed, bareInvoices } from '../load/bare-invoices.ts';

const CHARGES = 3;
const BARE_AT_ONCE = 8;
const MOST_BARE = 1000;
const POLL_MS = 100;
const WITHIN_MS = 900_000;
const WARM_UP = 20;

/**
 * G18: invoices a second when subscriptions of one organization fall due at the same instant, with a fee and three
 * charges each: tick, queue, one worker process. Against the statements that such an invoice needs at the least.
 */
export async function measureBilling(environment: Environment, effort: Effort): Promise<Findings> {
  const findings = emptyFindings();
  const { id, apiKey } = await createBenchOrganization(environment, 'Bench billing');
  // A noisy measurement is repeated once, and nothing is billed twice; one burst alone is never noisy.
  const sets = effort.bursts === 1 ? 1 : 2 * effort.bursts;
  const names = Array.from({ length: sets }, (_, n) => `burst${String.fromCharCode(97 + n)}`);
  const bareCount = Math.min(effort.burst, MOST_BARE);
  await prepare(environment, { id, apiKey }, [
    ...names.map((prefix): [string, number] => [prefix, effort.burst]),
    ['warm', WARM_UP],
    ['bare', bareCount],
  ]);

  const runtime = openHarnessRuntime(environment, 'bench billing');
  const worker = await startProcess(environment, 'workers/billing.js');
  await bill(runtime, id, 'warm', WARM_UP, environment);
  const [template] = await environment.sql<{ id: string }[]>`
    select id from invoices where organization_id = ${id} limit 1`;
  const store = await bareInvoices(runtime.sql, id, template!.id);
  const billed = await environment.sql<Billed[]>`
    select customer_id, id as subscription_id, external_id from subscriptions
    where organization_id = ${id} and external_id ~ '^bare[0-9]+$'`;

  const meter = openMeter(environment, { workers: worker });
  const waiting = [...names];
  const figures = await interleave(effort.bursts, {
    baseline: async () => {
      // Lines of a subscription are unique, so what a round stored is deleted outside the measured time.
      await environment.sql`
        delete from invoices where organization_id = ${id} and number like 'BARE-%'`;
      return bareRate(store, billed);
    },
    burst: () =>
      meter.around(async () => ({
        units: effort.burst,
        result: await bill(runtime, id, waiting.shift()!, effort.burst, environment),
      })),
  });
  findings.costs.invoice = meter.perUnit();
  findings.ratios.G18 = ratioOf(figures.burst, figures.baseline, figures.isNoisy);
  findings.absolute = {
    'invoices of a burst': `${median(figures.burst).toFixed(1)} /s`,
    'bare statements of as many': `${median(figures.baseline).toFixed(1)} /s`,
  };
  findings.checks.push(...(await checksOf(environment, id, effort.burst * (names.length - waiting.length))));
  findings.notes.push(`${effort.burst} subscriptions due at one instant, ${CHARGES} charges each, one worker process`);
  await worker.stop();
  await runtime.close();
  return findings;
}

/** Subscriptions with their usage; the processes that store it end before anything is measured. */
async function prepare(
  environment: Environment,
  organization: { id: string; apiKey: string },
  sets: readonly [string, number][],
): Promise<void> {
  const workers = await startProcess(environment, 'workers/all.js');
  const ingress = await startProcess(environment, 'src/ingress/server.js');
  const client = openClient(ingress.url, organization.apiKey);
  await createTemplate(client);
  for (const [prefix, count] of sets) {
    await copyTemplate(environment, organization.id, prefix, count);
    await sendUsage(client, prefix, count);
  }
  await until(async () => (await environment.sql`select from event_batches limit 1`).length === 0);
  await client.close();
  await Promise.all([ingress.stop(), workers.stop()]);
}

/** Lets a set fall due and waits for its last invoice. @returns invoices a second */
async function bill(
  runtime: Runtime,
  organizationId: string,
  prefix: string,
  count: number,
  environment: Environment,
): Promise<number> {
  await makeDue(environment, organizationId, prefix);
  const started = performance.now();
  await runTick(runtime, { periodicJobs, sweepJobs } as never, { job: 'bill', at: TICK }, { lastAttempt: true });
  await until(async () => {
    const due = await environment.sql`
      select from subscriptions where status = 'active' and next_billing_at <= ${TICK} limit 1`;
    return due.length === 0;
  });
  return count / ((performance.now() - started) / 1000);
}

async function bareRate(store: (billed: Billed) => Promise<unknown>, all: readonly Billed[]): Promise<number> {
  const left = [...all];
  const started = performance.now();
  const work = async () => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) await store(next);
  };
  await Promise.all(Array.from({ length: BARE_AT_ONCE }, work));
  return all.length / ((performance.now() - started) / 1000);
}

async function checksOf({ sql }: Environment, id: string, expected: number) {
  const [row] = await sql<{ invoices: number; subscriptions: number; fees: number; total: number }[]>`
    select count(distinct fee.invoice_id) as invoices, count(distinct fee.subscription_id) as subscriptions,
      count(*) as fees, sum(fee.amount_cents)::bigint as total
    from fees fee
    join subscriptions s on s.id = fee.subscription_id and s.external_id ~ '^burst[a-z][0-9]+$'
    where fee.organization_id = ${id}`;
  return [
    { what: 'invoices of the bursts', expected, found: row!.invoices },
    { what: 'subscriptions billed', expected, found: row!.subscriptions },
    { what: 'fees', expected: expected * (CHARGES + 1), found: row!.fees },
    { what: 'cents billed', expected: expected * 1600, found: row!.total },
  ];
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + WITHIN_MS;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error('the burst was not billed in time');
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
