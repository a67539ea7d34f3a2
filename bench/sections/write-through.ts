import { randomUUID } from 'node:crypto';
import { Client } from 'undici';
import { BASE_PATH } from '../../src/ingress/answer-request.ts';
import { type CommandLane, createCommandLane } from '../../src/ingress/command-lane.ts';
import { runCommand } from '../../src/jobs/run-command/run-command.ts';
import { operationsByName } from '../../src/operations.ts';
import { realNow, realNowMs } from '../../src/platform/clock/real-clock.ts';
import { newId } from '../../src/platform/ids.ts';
import type { Runtime } from '../../src/platform/process/runtime.ts';
import { connectPatiently } from '../../src/platform/redis/connect.ts';
import { openReplies } from '../../src/platform/replies/replies.ts';
import { type BenchOrganization, createBenchOrganization } from '../data/organization.ts';
import { openMeter } from '../harness/costs.ts';
import type { Environment } from '../harness/environment.ts';
import type { Effort } from '../harness/options.ts';
import { startProcess } from '../harness/processes.ts';
import { emptyFindings, type Findings } from '../harness/report.ts';
import { interleave, median, ratioOf } from '../harness/rounds.ts';
import { openHarnessRuntime } from '../harness/runtime.ts';
import { milliseconds } from '../harness/units.ts';

const OPERATION = 'createCustomer';
const CALLERS = 16;
const CUSTOMERS_AT_ONCE = 1_600;

/** G8, G9: what the way over the queue and over HTTP costs one caller who waits for the answer of his write. */
export async function measureWriteThrough(environment: Environment, effort: Effort): Promise<Findings> {
  const findings = emptyFindings();
  const organization = await createBenchOrganization(environment, 'Bench writes');
  const workers = await startProcess(environment, 'workers/all.js');
  const ingress = await startProcess(environment, 'src/ingress/server.js');
  const runtime = openHarnessRuntime(environment, 'bench writes');
  const lane = await openLane(runtime);
  const client = new Client(ingress.url);
  const timed = (call: () => Promise<unknown>) => () => p50(call, effort);

  const figures = await interleave(effort.rounds, {
    baseline: timed(() => runDirectly(runtime, organization)),
    through: timed(async () => mustBeDone((await lane.lane.run(commandOf(organization))).status)),
  });
  const bare = await interleave(effort.rounds, {
    baseline: timed(() => insertBarely(runtime, organization)),
    http: timed(() => postCustomer(client, organization)),
  });
  findings.ratios.G8 = ratioOf(figures.through, figures.baseline, figures.isNoisy);
  findings.ratios.G9 = ratioOf(bare.http, bare.baseline, bare.isNoisy);
  const meter = openMeter(environment, { ingress, workers });
  await meter.around(() => postAtOnce(ingress.url, organization));
  findings.costs['customer made'] = meter.perUnit();
  findings.absolute = {
    'direct transaction p50': milliseconds(median(figures.baseline)),
    'job and reply p50': milliseconds(median(figures.through)),
    'bare insert p50': milliseconds(median(bare.baseline)),
    'POST /customers p50': milliseconds(median(bare.http)),
  };
  findings.notes.push('workers: one host with all pools, as npm start runs them; one caller, no webhook endpoint');

  await client.close();
  await lane.close();
  await runtime.close();
  await Promise.all([ingress.stop(), workers.stop()]);
  return findings;
}

/** Median time of one call after another, in milliseconds, after the warm-up. */
export const p50 = async (call: () => Promise<unknown>, effort: Effort): Promise<number> =>
  median((await timesOf(call, effort)).measured);

/** Times of one call after another, in milliseconds: those of the warm-up and, after it, the measured ones. */
export async function timesOf(call: () => Promise<unknown>, effort: Effort) {
  const from = performance.now() + effort.warmUpSeconds * 1000;
  const to = from + effort.measuredSeconds * 1000;
  const all: number[] = [];
  const measured: number[] = [];
  for (let start = performance.now(); start < to; ) {
    await call();
    const end = performance.now();
    all.push(end - start);
    if (start >= from) measured.push(end - start);
    start = end;
  }
  return { all, measured };
}

async function openLane(runtime: Runtime): Promise<{ lane: CommandLane; close(): Promise<void> }> {
  const processId = randomUUID();
  const subscriber = connectPatiently(runtime.config.REDIS_URL, 'bench replies');
  const replies = await openReplies(subscriber, runtime.config.REDIS_PREFIX, processId);
  return {
    lane: createCommandLane({ ...runtime, replies, processId }),
    async close() {
      replies.close();
      subscriber.disconnect();
    },
  };
}

export const customerOf = () => ({
  external_id: randomUUID(),
  name: 'Bench customer',
  email: 'billing@example.com',
  country: 'DE',
  currency: 'EUR',
});

/** The command as the ingress sends it, so that both ways do the same work: idempotency row and log rows included. */
function commandOf(organization: BenchOrganization) {
  const customer = customerOf();
  return {
    operation: OPERATION,
    organization_id: organization.id,
    sandbox: false,
    api_key_id: organization.apiKeyId,
    request_id: randomUUID(),
    input: { query: {}, body: operationsByName.get(OPERATION)!.body!.parse(customer) },
    idempotency: null,
    request: {
      method: 'post',
      origin: 'http://127.0.0.1',
      path: `${BASE_PATH}/customers`,
      client: 'bench',
      parameters: JSON.stringify({ customer }),
    },
  };
}

async function runDirectly(runtime: Runtime, organization: BenchOrganization): Promise<void> {
  const job = { v: 1 as const, from: '', cid: newId(), at: realNowMs(), ...commandOf(organization) };
  mustBeDone((await runCommand({ ...runtime, operations: operationsByName }, job)).status);
}

export async function postCustomer(client: Client, organization: BenchOrganization): Promise<void> {
  const { statusCode, body } = await client.request({
    method: 'POST',
    path: `${BASE_PATH}/customers`,
    headers: { authorization: `Bearer ${organization.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ customer: customerOf() }),
  });
  await body.dump();
  mustBeDone(statusCode);
}

/** Customers of 16 callers, each waiting for its answer. */
async function postAtOnce(url: string, organization: BenchOrganization): Promise<{ units: number; result: undefined }> {
  let left = CUSTOMERS_AT_ONCE;
  const callers = Array.from({ length: CALLERS }, async () => {
    const client = new Client(url);
    while (left > 0) {
      left -= 1;
      await postCustomer(client, organization);
    }
    await client.close();
  });
  await Promise.all(callers);
  return { units: CUSTOMERS_AT_ONCE, result: undefined };
}

export async function insertBarely({ sql }: Runtime, organization: BenchOrganization): Promise<void> {
  const id = newId();
  const now = realNow();
  const { external_id, name, email, country, currency } = customerOf();
  await sql`
    insert into customers (id, organization_id, billing_entity_id, external_id, sequential_id, slug, name, email,
      country,
      currency, created_at, updated_at)
    values (${id}, ${organization.id}, ${organization.id}, ${external_id}, ${nextNumber()}, ${`BEN-${id}`}, ${name},
      ${email}, ${country}, ${currency}, ${now}, ${now})`;
}

// Far above the numbers that the commands of the same organization take.
let number = 1_000_000_000;
const nextNumber = (): number => {
  number += 1;
  return number;
};

function mustBeDone(status: number): void {
  if (status !== 200) throw new Error(`creating a customer answered ${status}`);
}
