import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { realNow } from '../../src/platform/clock/real-clock.ts';
import { newId } from '../../src/platform/ids.ts';
import { hmacSignature } from '../../src/platform/keys/webhook-signatures.ts';
import { createProducer, type Producer } from '../../src/platform/queue/producer.ts';
import { createBenchOrganization } from '../data/organization.ts';
import { openMeter } from '../harness/costs.ts';
import type { Environment } from '../harness/environment.ts';
import type { Effort } from '../harness/options.ts';
import { startProcess } from '../harness/processes.ts';
import { emptyFindings, type Findings } from '../harness/report.ts';
import { interleave, median, ratioOf } from '../harness/rounds.ts';
import { perSecond } from '../harness/units.ts';

// Enough of each that no limit of the pool decides: 8 slots an endpoint, 16 connections an origin, a quarter of all
// slots an organization (webhooks.md#sending).
const ORGANIZATIONS = 8;
const ORIGINS = 4;
const CONNECTIONS = 32;
const DELIVERIES = 20_000;
const BARE_REQUESTS = 20_000;
const DELIVERIES_PER_JOB = 10;
const LOOK_EVERY_MS = 25;
const HMAC_KEY = randomUUID();

interface Endpoint {
  id: string;
  organizationId: string;
  url: string;
}

/** G12: what rows, queue, slots and signatures cost beside a loop that only signs and sends. */
export async function measureWebhooks(environment: Environment, effort: Effort): Promise<Findings> {
  const findings = emptyFindings();
  const receiver = await startProcess(environment, 'bench/processes/receiver.js', { BENCH_ORIGINS: String(ORIGINS) });
  const workers = await startProcess(environment, 'workers/all.js', { WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' });
  const producer = createProducer(environment.redis, environment.prefix);
  const urls = Array.from({ length: ORIGINS }, (_, index) => urlOf(receiver.url, index));
  const endpoints: Endpoint[] = [];
  for (let index = 0; index < ORGANIZATIONS; index += 1)
    endpoints.push(await createEndpoint(environment, urls[index % ORIGINS]!, index));

  const agent = new Agent({ pipelining: 1, connections: CONNECTIONS / ORIGINS });
  const meter = openMeter(environment, { workers });
  const figures = await interleave(effort.rounds, {
    baseline: () => sendBarely(agent, urls),
    deliveries: async () => {
      const jobs = inTurn(await prepare(environment, endpoints));
      return meter.around(async () => ({ units: DELIVERIES, result: await deliver(environment, producer, jobs) }));
    },
    bursts: async () => deliver(environment, producer, oneAfterTheOther(await prepare(environment, endpoints))),
  });
  findings.costs.delivery = meter.perUnit();
  findings.ratios.G12 = ratioOf(figures.deliveries, figures.baseline, figures.isNoisy);
  const [row] = await environment.sql<{ wrong: number }[]>`
    select count(*)::int as wrong from webhook_deliveries
    where organization_id = any (${endpoints.map((endpoint) => endpoint.organizationId)}::uuid[])
      and (status <> 'succeeded' or retries > 0)`;
  findings.checks.push({ what: 'deliveries that did not succeed at once', expected: 0, found: row!.wrong });
  findings.absolute = {
    'bare undici.request loop': perSecond(median(figures.baseline)),
    deliveries: perSecond(median(figures.deliveries)),
    'deliveries, one endpoint after the other': perSecond(median(figures.bursts)),
  };
  findings.notes.push(
    `${ORGANIZATIONS} organizations with an endpoint each at ${ORIGINS} origins, their jobs in turn; both sides sign with HMAC`,
  );
  await agent.close();
  await producer.close();
  await Promise.all([workers.stop(), receiver.stop()]);
  return findings;
}

function urlOf(base: string, index: number): string {
  const url = new URL(base);
  url.port = String(Number(url.port) + index);
  return `${url.origin}/hook`;
}

async function createEndpoint({ sql, ...environment }: Environment, url: string, index: number): Promise<Endpoint> {
  const organization = await createBenchOrganization({ sql, ...environment }, `Bench webhooks ${index}`);
  const id = newId();
  const now = realNow();
  await sql`
    insert into webhook_endpoints (id, organization_id, webhook_url, signature_algo, secret, created_at, updated_at)
    values (${id}, ${organization.id}, ${url}, 'hmac', ${`whsec_${randomBytes(24).toString('base64')}`}, ${now},
      ${now})`;
  return { id, organizationId: organization.id, url };
}

const PAYLOAD = JSON.stringify({
  webhook_type: 'invoice.created',
  object_type: 'invoice',
  invoice: { svc_id: randomUUID(), fees: Array.from({ length: 5 }, () => ({ svc_id: randomUUID(), units: '12.5' })) },
});

/** Requests a second of 32 callers that sign and send, each waiting for its answer. */
async function sendBarely(agent: Agent, urls: string[]): Promise<number> {
  const started = performance.now();
  let left = BARE_REQUESTS;
  const caller = async (url: string) => {
    while (left > 0) {
      left -= 1;
      const headers = { 'content-type': 'application/json', 'x-svc-signature': hmacSignature(HMAC_KEY, PAYLOAD) };
      const { body } = await request(url, { method: 'POST', dispatcher: agent, headers, body: PAYLOAD });
      await body.dump();
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, (_, index) => caller(urls[index % urls.length]!)));
  return (BARE_REQUESTS / (performance.now() - started)) * 1000;
}

interface Nudge {
  payload: { organization_id: string; webhook_endpoint_id: string; delivery_ids: string[] };
}

/** Organizations that are busy at the same time: one job of each after the other. */
const inTurn = (jobs: Nudge[][]): Nudge[] =>
  jobs[0]!.flatMap((_job, index) => jobs.flatMap((ofEndpoint) => ofEndpoint[index] ?? []));

/** The queue holds all jobs of an endpoint before the first of the next: the share of each makes most of them wait. */
const oneAfterTheOther = (jobs: Nudge[][]): Nudge[] => jobs.flat();

/** The jobs of deliveries, by endpoint, whose events stand in the feed with their numbers. */
async function prepare({ sql }: Environment, endpoints: Endpoint[]): Promise<Nudge[][]> {
  const perEndpoint = DELIVERIES / endpoints.length;
  const ids = await Promise.all(endpoints.map((endpoint) => insertDeliveries(sql, endpoint, perEndpoint)));
  await untilNone(sql, sql`select from webhook_events where sequence is null`);
  return endpoints.map((endpoint, index) =>
    Array.from({ length: Math.ceil(perEndpoint / DELIVERIES_PER_JOB) }, (_, job) => ({
      payload: {
        organization_id: endpoint.organizationId,
        webhook_endpoint_id: endpoint.id,
        delivery_ids: ids[index]!.slice(job * DELIVERIES_PER_JOB, (job + 1) * DELIVERIES_PER_JOB),
      },
    })),
  );
}

/** Deliveries a second, from the first nudge until every row says succeeded. */
async function deliver({ sql }: Environment, producer: Producer, jobs: Nudge[]): Promise<number> {
  const started = performance.now();
  await producer.addMany('webhook.deliver', jobs);
  const isOpen = sql`status in ('pending', 'retrying')`;
  // The last ones first, by their keys alone: whoever asks for any reads past all that are done already. Measured: with
  // both conditions in one place up to 18 of 50 pages a delivery, and two fifths of the time within statements.
  const last = jobs.slice(-ORGANIZATIONS).map(({ payload }) => payload.delivery_ids.at(-1)!);
  await untilNone(
    sql,
    sql`
      select from unnest(${last}::uuid[]) as wanted (id)
      cross join lateral (select status from webhook_deliveries where id = wanted.id offset 0) delivery
      where ${isOpen}`,
  );
  await untilNone(sql, sql`select from webhook_deliveries where ${isOpen}`);
  return (DELIVERIES / (performance.now() - started)) * 1000;
}

async function untilNone(sql: Environment['sql'], rows: ReturnType<Environment['sql']>): Promise<void> {
  for (;;) {
    const [row] = await sql<{ open: boolean }[]>`select exists (${rows}) as open`;
    if (!row!.open) return;
    await pause(LOOK_EVERY_MS);
  }
}

async function insertDeliveries(sql: Environment['sql'], endpoint: Endpoint, count: number): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    with event as (
      insert into webhook_events (id, organization_id, webhook_type, object_type, occurred_at, payload, created_at)
      select gen_random_uuid(), ${endpoint.organizationId}, 'invoice.created', 'invoice', ${realNow()}, ${PAYLOAD},
        ${realNow()}
      from generate_series(1, ${count})
      returning id
    )
    insert into webhook_deliveries (id, organization_id, webhook_endpoint_id, event_id, endpoint, next_attempt_at,
      created_at, updated_at)
    select gen_random_uuid(), ${endpoint.organizationId}, ${endpoint.id}, event.id, ${endpoint.url}, ${realNow()},
      ${realNow()}, ${realNow()}
    from event
    returning id`;
  return rows.map((row) => row.id);
}
