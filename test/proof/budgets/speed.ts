import { setTimeout as sleep } from 'node:timers/promises';
import { Temporal } from 'temporal-polyfill';
import { Agent, request } from 'undici';
import { listCatalogs } from '../../../src/areas/catalog/usage-shapes/queries.ts';
import { catalogOf } from '../../../src/areas/catalog/usage-shapes/storing-catalog.ts';
import { decideBudgets, sortedWindows } from '../../../src/areas/usage/budget-windows/decide-call.ts';
import type { PlacedWindow } from '../../../src/areas/usage/budget-windows/place-usage.ts';
import { connectDatabase, type Sql } from '../../../src/platform/db/connect.ts';
import { newId } from '../../../src/platform/ids.ts';
import { createClient } from '../../support/client.ts';
import { ok } from '../../support/words.ts';
import type { Stand } from './stand.ts';

export interface Speed {
  /** Per second, in one window. */
  decisions: { together: number; severalRoundTrips: number; oneByOne: number };
  /** 99th percentiles. */
  latency: { perSecond: number; decisionMs: number; eventMs: number };
  /** Events per second. */
  ingest: { without: number; withBudgets: number };
}

const CALLERS = 64;
const MEASURED_MS = 2000;
/** Each way in turns, so that what else the machine does falls on all of them. */
const ROUNDS = 5;
const LATENCY_SECONDS = 8;

/**
 * Measures all of it in one run, one after the other.
 *
 * perSecond  how many decisions, and then events, are asked for in a second while their latency is measured
 */
export async function measureSpeed(stand: Stand, perSecond: number): Promise<Speed> {
  await stand.ready();
  const latency = await measureLatency(stand, perSecond);
  return { decisions: await measureDecisions(stand), latency, ingest: await measureIngest(stand) };
}

/** As many decisions as fit, by three ways of deciding about one window, in turns; the median of each. */
async function measureDecisions({ services, sql, organization }: Stand): Promise<Speed['decisions']> {
  const organizationId = organization.organization_id;
  const db = connectDatabase(services.databaseUrl, { connections: CALLERS });
  try {
    const window = await newWindow(sql, organizationId);
    const [row] = await listCatalogs(sql, [organizationId]);
    const { version } = catalogOf(row!);
    const scope = { db, organizationId };
    const together = async () => {
      const steps = Array.from({ length: CALLERS }, () => ({
        s: 'hold' as const,
        hold: newId(),
        id: newId(),
        digest: 'aa',
        externalSubscriptionId: 'ada-1',
        seconds: 300,
        parts: [[window.id, '1', 'tokens'] as [string, string, string]],
        isPartial: false,
        reasons: [],
      }));
      await decideBudgets(scope, { version, windows: sortedWindows([window]), steps });
      return CALLERS;
    };
    const severalRoundTrips = async () => {
      await db.begin((tx) => decideApart(tx as unknown as Sql, { organizationId, window, count: CALLERS }));
      return CALLERS;
    };
    const oneByOne = async () => {
      await db.begin((tx) => decideApart(tx as unknown as Sql, { organizationId, window, count: 1 }));
      return 1;
    };
    await Promise.all(Array.from({ length: CALLERS }, oneByOne)); // every connection is open
    const rounds: Speed['decisions'][] = [];
    for (let round = 0; round < ROUNDS; round += 1)
      rounds.push({
        together: await rate(1, together),
        severalRoundTrips: await rate(1, severalRoundTrips),
        oneByOne: await rate(CALLERS, oneByOne),
      });
    return {
      together: medianOf(rounds, 'together'),
      severalRoundTrips: medianOf(rounds, 'severalRoundTrips'),
      oneByOne: medianOf(rounds, 'oneByOne'),
    };
  } finally {
    await db.end({ timeout: 1 });
  }
}

const medianOf = <Name extends string>(rounds: readonly Record<Name, number>[], name: Name): number =>
  rounds.map((round) => round[name]).sort((a, b) => a - b)[Math.floor(rounds.length / 2)]!;

async function newWindow(sql: Sql, organizationId: string): Promise<PlacedWindow> {
  const id = newId();
  await sql`
    insert into budgets (id, organization_id, code, name, scope, measure, most, period, timezone, mode, alert_percents,
      on_outage, unknown_price, created_at, updated_at, match)
    values (${id}, ${organizationId}, ${id}, 'speed', 'organization', 'tokens', 1000000000, 'lifetime', 'UTC', 'hard',
      '{}', 'closed', 'deny', now(), now(), '{"run":"speed"}')`;
  const [catalog] = await listCatalogs(sql, [organizationId]);
  const budget = catalogOf(catalog!).budgets.find((each) => each.id === id)!;
  const from = Temporal.Instant.from('2030-01-01T00:00:00Z');
  return { id: newId(), budget, groupKey: '00', group: [], limit: budget.limit, from, to: null };
}

/** The same decisions by statements of their own: lock, fold, end, read, write holds, parts and the window. */
async function decideApart(
  tx: Sql,
  { organizationId, window, count }: { organizationId: string; window: PlacedWindow; count: number },
): Promise<void> {
  await tx`select hold_shapes_version(${organizationId}::uuid)`;
  await tx`select from budget_windows where organization_id = ${organizationId} and id = ${window.id} for no key update`;
  await tx`
    update budget_entries set folded_at = clock_timestamp()
    where window_id = ${window.id} and folded_at is null and organization_id = ${organizationId}`;
  await tx`
    update budget_hold_parts set is_open = false
    where window_id = ${window.id} and is_open and expires_at <= clock_timestamp() and organization_id = ${organizationId}`;
  await tx`select spent, held from budget_windows where organization_id = ${organizationId} and id = ${window.id}`;
  const keys = Array.from({ length: count }, () => newId());
  await tx`select from budget_holds where organization_id = ${organizationId} and hold_key = any (${keys}::text[])`;
  await tx`
    insert into budget_holds (id, organization_id, hold_key, expires_at, question_digest, external_subscription_id,
      created_at)
    select id::uuid, ${organizationId}, id, clock_timestamp() + interval '300 seconds', '\\xaa', 'ada-1',
      clock_timestamp()
    from unnest(${keys}::text[]) id`;
  await tx`
    insert into budget_hold_parts (hold_id, window_id, organization_id, held, expires_at)
    select id, ${window.id}, ${organizationId}, 1, clock_timestamp() + interval '300 seconds'
    from unnest(${keys}::uuid[]) id`;
  await tx`
    update budget_windows set held = held + ${count}, decision_no = decision_no + ${count}
    where organization_id = ${organizationId} and id = ${window.id}`;
}

/** How much of something is done in a second by so many callers. */
async function rate(callers: number, work: () => Promise<number>): Promise<number> {
  await work();
  const started = performance.now();
  let done = 0;
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (performance.now() - started < MEASURED_MS) {
        const units = await work(); // "done += await" would forget what others did meanwhile
        done += units;
      }
    }),
  );
  return (done / (performance.now() - started)) * 1000;
}

/** Requests at fixed instants, whether those before are answered or not. */
async function measureLatency({ urls, organization }: Stand, perSecond: number): Promise<Speed['latency']> {
  const agent = new Agent({ connections: 256 });
  const send = async (path: string, body: object) => {
    const response = await request(`${urls[0]}/api/v1${path}`, {
      method: 'POST',
      dispatcher: agent,
      headers: { authorization: `Bearer ${organization.api_key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    await response.body.dump();
    if (response.statusCode !== 200) throw new Error(`${path}: ${response.statusCode}`);
  };
  const decision = () =>
    send('/budget_decisions', {
      decision: {
        hold_key: newId(),
        external_subscription_id: 'ada-1',
        tokens: '1',
        properties: { run: 'users', round: newId().slice(0, 8), user: 'u1', team: 't1' },
      },
    });
  const event = () =>
    send('/events', { event: { transaction_id: newId(), external_subscription_id: 'ada-1', code: 'ai_usage' } });
  const eventMs = await p99(event, perSecond);
  const decisionMs = await p99(decision, perSecond);
  await agent.close();
  return { perSecond, decisionMs, eventMs };
}

async function p99(send: () => Promise<void>, perSecond: number): Promise<number> {
  await Promise.all(Array.from({ length: 20 }, send)); // what is read once
  const took: number[] = [];
  const open: Promise<void>[] = [];
  const started = performance.now();
  for (let sent = 0; sent < perSecond * LATENCY_SECONDS; sent += 1) {
    const dueMs = started + (sent / perSecond) * 1000;
    if (dueMs > performance.now()) await sleep(dueMs - performance.now());
    open.push(send().then(() => void took.push(performance.now() - dueMs)));
  }
  await Promise.all(open);
  took.sort((a, b) => a - b);
  return took[Math.floor(took.length * 0.99)]!;
}

const BATCH = 100;
const SENDERS = 16;

/** Batches of events of one organization, in turns those that no budget matches and those that three do. */
async function measureIngest({ urls, organization }: Stand): Promise<Speed['ingest']> {
  const clients = urls.map((url) => createClient(url, organization.api_key));
  for (const [code, group_by] of [
    ['ingest-all', []],
    ['ingest-user', ['user']],
    ['ingest-calls', []],
  ] as const)
    await ok(
      clients[0]!.post('/budgets', {
        budget: {
          code,
          name: code,
          scope: 'organization',
          measure: 'tokens',
          period: 'day',
          limit: '1000000000',
          match: { run: 'ingest' },
          group_by,
        },
      }),
    );
  let turn = 0;
  const send = (run: string) => async () => {
    const client = clients[turn++ % clients.length]!;
    const events = Array.from({ length: BATCH }, (_, index) => ({
      transaction_id: newId(),
      external_subscription_id: 'ada-1',
      code: 'ai_usage',
      properties: { calls: 1, tokens: 10, run, user: `u${index % 10}` },
    }));
    await ok(client.post('/events/batch', { events }));
    return BATCH;
  };
  const rounds: Speed['ingest'][] = [];
  for (let round = 0; round < ROUNDS; round += 1)
    rounds.push({
      without: await rate(SENDERS, send('none')),
      withBudgets: await rate(SENDERS, send('ingest')),
    });
  return { without: medianOf(rounds, 'without'), withBudgets: medianOf(rounds, 'withBudgets') };
}
