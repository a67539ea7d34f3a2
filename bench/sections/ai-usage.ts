import { setTimeout as pause } from 'node:timers/promises';
import { realNowMs } from '../../src/platform/clock/real-clock.ts';
import { type ApiClient, openClient } from '../data/client.ts';
import { eventsBody, sellModelCalls, usagesBody } from '../data/model-calls.ts';
import { type BenchOrganization, createBenchOrganization } from '../data/organization.ts';
import { untilShapesAreLive } from '../data/shapes.ts';
import { openMeter } from '../harness/costs.ts';
import type { Environment } from '../harness/environment.ts';
import type { Effort } from '../harness/options.ts';
import { startProcess } from '../harness/processes.ts';
import { emptyFindings, type Findings } from '../harness/report.ts';
import { interleave, median, ratioOf } from '../harness/rounds.ts';
import { perSecond } from '../harness/units.ts';

const ITEMS = 100;
/** Requests that are under way at a time. */
const SENDERS = 16;
const REQUESTS_A_ROUND = 150;
const WARM_UP_REQUESTS = 100;
const LOOK_EVERY_MS = 20;
const FINISHED_WITHIN_MS = 60_000;

/**
 * B7: calls of models in batches of a hundred beside the plain events that they become, each pool by itself. What is
 * compared is how fast they are answered; the processor time contains all later steps.
 */
export async function measureAiUsage(environment: Environment, effort: Effort): Promise<Findings> {
  const findings = emptyFindings();
  const organization = await sellCalls(environment);
  const [ingress, events, aggregation] = await Promise.all([
    startProcess(environment, 'src/ingress/server.js'),
    startProcess(environment, 'workers/events.js'),
    startProcess(environment, 'workers/aggregation.js'),
  ]);
  const client = openClient(ingress.url, organization.apiKey);
  const meters = {
    plain: openMeter(environment, { ingress, events, aggregation }),
    usage: openMeter(environment, { ingress, events, aggregation }),
  };
  let round = 0;
  const send = async (path: string, bodyOf: typeof usagesBody, requests: number) => {
    round += 1;
    const bodies = Array.from({ length: requests }, (_, index) => bodyOf(`r${round}`, index * ITEMS, ITEMS));
    const started = performance.now();
    await sendAll(client, path, bodies);
    const seconds = (performance.now() - started) / 1000;
    await untilFinished(environment);
    return { units: requests * ITEMS, result: (requests * ITEMS) / seconds };
  };
  const plain = (requests: number) => send('/events/batch', eventsBody, requests);
  const usage = (requests: number) => send('/ai/usage/batch', usagesBody, requests);
  await plain(WARM_UP_REQUESTS);
  await usage(WARM_UP_REQUESTS);

  const figures = await interleave(effort.rounds, {
    baseline: () => meters.plain.around(() => plain(REQUESTS_A_ROUND)),
    usage: () => meters.usage.around(() => usage(REQUESTS_A_ROUND)),
  });
  findings.ratios.B7 = ratioOf(figures.usage, figures.baseline, figures.isNoisy);
  findings.absolute = {
    'POST /events/batch, events of 15 properties': perSecond(median(figures.baseline)),
    'POST /ai/usage/batch, calls': perSecond(median(figures.usage)),
  };
  const costs = { event: meters.plain.perUnit(), call: meters.usage.perUnit() };
  for (const [name, { cpuUs, walBytes, bufferHits }] of Object.entries(costs)) {
    const parts = Object.entries(cpuUs).map(([process, us]) => `${process} ${us.toFixed(0)}`);
    findings.notes.push(
      `${name}: ${total(cpuUs).toFixed(0)} us of processor time (${parts.join(', ')}), ` +
        `${walBytes.toFixed(0)} bytes of WAL, ${bufferHits.toFixed(0)} pages looked at`,
    );
  }
  findings.notes.push(`by processor time: ${(total(costs.event.cpuUs) / total(costs.call.cpuUs)).toFixed(2)}`);
  findings.checks.push({ what: 'calls counted by hours', ...(await countedCalls(environment, organization)) });
  await client.close();
  await Promise.all([ingress.stop(), events.stop(), aggregation.stop()]);
  return findings;
}

const total = (cpuUs: Record<string, number>): number => Object.values(cpuUs).reduce((sum, us) => sum + us, 0);

async function sellCalls(environment: Environment): Promise<BenchOrganization> {
  const organization = await createBenchOrganization(environment, 'Bench calls');
  const workers = await startProcess(environment, 'workers/all.js');
  const ingress = await startProcess(environment, 'src/ingress/server.js');
  const client = openClient(ingress.url, organization.apiKey);
  await sellModelCalls(client, new Date(realNowMs()).getUTCFullYear());
  await untilShapesAreLive(environment, [organization.id]);
  await client.close();
  await Promise.all([ingress.stop(), workers.stop()]);
  return organization;
}

async function sendAll(client: ApiClient, path: string, bodies: readonly string[]): Promise<void> {
  const left = bodies.values();
  const sender = async () => {
    for (const body of left) {
      const { status } = await client.post(path, body);
      if (status !== 200) throw new Error(`POST ${path} answered ${status}`);
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, sender));
}

/** The later steps of all batches are done. */
async function untilFinished({ sql }: Environment): Promise<void> {
  const deadline = performance.now() + FINISHED_WITHIN_MS;
  for (;;) {
    const [row] = await sql<{ open: number }[]>`select count(*)::int as open from event_batches`;
    if (row!.open === 0) return;
    if (performance.now() > deadline) throw new Error(`${row!.open} batches are not finished`);
    await pause(LOOK_EVERY_MS);
  }
}

/** Each call is in the sums of its hour once, and has its amount there. */
async function countedCalls({ sql }: Environment, { id }: BenchOrganization) {
  const [row] = await sql<{ expected: string; found: string }[]>`
    select (
        select count(*) || ' calls, ' || trim_scale(sum(precise_total_amount_cents)) from events
        where organization_id = ${id} and properties ? 'ai_status') as expected,
      (
        select sum(events) || ' calls, ' || trim_scale(sum(amount)) from ai_usage_hours
        where organization_id = ${id}) as found`;
  return row!;
}
