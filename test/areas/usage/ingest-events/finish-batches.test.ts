import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createOrganization } from '../../../../src/areas/tenancy/organizations/commands.ts';
import {
  finishBatches,
  finishOpenBatches,
  sweepEventBatches,
} from '../../../../src/areas/usage/ingest-events/finish-batches.ts';
import {
  type MissingWallets,
  tellMissingWalletsStep,
} from '../../../../src/areas/usage/ingest-events/missing-wallets.ts';
import type { Context, WebhookEvent } from '../../../../src/platform/context.ts';
import { connectDatabase } from '../../../../src/platform/db/connect.ts';
import { newId } from '../../../../src/platform/ids.ts';
import { violationsOf } from '../../../contract/check-webhook.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { incoming, makeMetric, type Sent, storage } from './build.ts';

let database: TestDatabase;
let organizationId: string;
let customerId: string;
let planId: string;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  const { sql } = database;
  organizationId = (await createOrganization(sql, { name: 'Acme', sandbox: false })).organization_id;
  [customerId, planId] = [newId(), newId()];
  const [entity] = await sql<
    { id: string }[]
  >`select id from billing_entities where organization_id = ${organizationId}`;
  await sql`
    insert into customers (id, organization_id, billing_entity_id, external_id, sequential_id, slug, created_at,
      updated_at)
    values (${customerId}, ${organizationId}, ${entity!.id}, 'c', 1, 'c', ${day(1)}, ${day(1)})`;
  await sql`
    insert into plans (id, organization_id, code, name, interval, pay_in_advance, amount_cents, amount_currency,
      created_at, updated_at)
    values (${planId}, ${organizationId}, 'p', 'p', 'monthly', false, 0, 'USD', ${day(1)}, ${day(1)})`;
});

const day = (date: number) => `2024-03-${String(date).padStart(2, '0')}T00:00:00Z`;
const seconds = (date: number) => Temporal.Instant.from(day(date)).epochMilliseconds / 1000;

async function subscribe(changes: { status?: string; started?: number | null; terminated?: number; id?: string } = {}) {
  const { status = 'active', started = 2, terminated, id = newId() } = changes;
  await database.sql`
    insert into subscriptions (id, organization_id, customer_id, plan_id, external_id, status, subscription_at,
      started_at, terminated_at,
      created_at, updated_at)
    values (${id}, ${organizationId}, ${customerId}, ${planId}, 's', ${status}, ${day(2)},
      ${started === null ? null : day(started)},
      ${terminated === undefined ? null : day(terminated)}, ${day(1)}, ${day(1)})`;
  return id;
}

async function charge(metric: Parameters<typeof makeMetric>[2] = {}) {
  const { id } = await makeMetric(database.sql, organizationId, metric);
  await database.sql`
    insert into charges (id, organization_id, plan_id, billable_metric_id, code, charge_model, properties, created_at,
      updated_at)
    values (${newId()}, ${organizationId}, ${planId}, ${id}, ${metric.code ?? 'calls'}, 'standard', '{}', ${day(1)},
      ${day(1)})`;
}

/** Stores events and finishes their batches. */
async function send(...events: Sent[]) {
  const { store, jobs } = storage(database.sql);
  await store(incoming(organizationId, events));
  for (const { payload } of jobs) {
    const { batch_ids } = payload as { batch_ids: string[] };
    await database.sql.begin((tx) => finishBatches(tx, batch_ids));
  }
}

const reasons = async () =>
  (
    await database.sql<{ reason: string }[]>`
      select reason from unmatched_events where organization_id = ${organizationId} order by event_id`
  ).map((row) => row.reason);
const marked = async () =>
  await database.sql<{ id: string; day: string }[]>`
    select id, last_received_event_on::text as day from subscriptions
    where organization_id = ${organizationId} and usage_may_have_changed order by id`;

describe('events that no charge takes', () => {
  test.each<[string, () => Promise<unknown>, Sent]>([
    ['metric_not_found', () => subscribe(), { code: 'unknown' }],
    ['subscription_missing', () => charge(), { external_subscription_id: ' ' }],
    ['subscription_not_found', () => charge(), {}],
    ['subscription_pending', async () => [await charge(), await subscribe({ status: 'pending', started: null })], {}],
    ['before_subscription', async () => [await charge(), await subscribe()], { timestamp: seconds(2) - 1 }],
    [
      'after_subscription',
      async () => [await charge(), await subscribe({ status: 'terminated', terminated: 5 })],
      { timestamp: seconds(5) + 1 },
    ],
    ['no_charge', async () => [await makeMetric(database.sql, organizationId), await subscribe()], {}],
    [
      'property_missing',
      async () => [await charge({ aggregation_type: 'sum_agg', field_name: 'v' }), await subscribe()],
      { properties: { w: 1 } },
    ],
    [
      'property_not_numeric',
      async () => [await charge({ aggregation_type: 'sum_agg', field_name: 'v' }), await subscribe()],
      { properties: { v: '1e3' } },
    ],
  ])('an event that no charge takes is listed as unmatched with the reason %s', async (reason, prepare, event) => {
    await prepare();
    await send({ timestamp: seconds(3), ...event });
    expect(await reasons()).toEqual([reason]);
    const [total] =
      await database.sql`select reason, count from unmatched_totals where organization_id = ${organizationId}`;
    expect(total).toEqual({ reason, count: 1 });
  });

  test('an event that a charge takes is not listed as unmatched', async () => {
    await charge({ aggregation_type: 'sum_agg', field_name: 'v' });
    await subscribe();
    await send({ timestamp: seconds(3), properties: { v: '-1.5' } });
    expect(await reasons()).toEqual([]);
  });

  test('an event of a recurring metric before the start of the subscription is carried over', async () => {
    await charge({ aggregation_type: 'sum_agg', field_name: 'v', recurring: true });
    const id = await subscribe();
    await send({ timestamp: seconds(1), properties: { v: 1 } });
    expect(await reasons()).toEqual([]);
    expect((await marked()).map((row) => row.id)).toEqual([id]);
  });

  test('a redelivered job finds its batch finished', async () => {
    const { store, jobs } = storage(database.sql);
    await store(incoming(organizationId, [{}]));
    const { batch_ids } = jobs[0]!.payload as { batch_ids: string[] };
    await Promise.all([1, 2, 3].map(() => database.sql.begin((tx) => finishBatches(tx, batch_ids))));
    const [total] = await database.sql`select count from unmatched_totals where organization_id = ${organizationId}`;
    expect(total).toEqual({ count: 1 });
  });
});

describe('activity of subscriptions', () => {
  test('the subscription that covers the timestamp of an event is marked with the day of reception', async () => {
    await charge();
    await subscribe({ status: 'terminated', started: 2, terminated: 5 });
    const id = await subscribe({ started: 5 });
    await send({ timestamp: seconds(3) });
    expect(await marked()).toEqual([]);
    await send({ timestamp: seconds(6) });
    expect(await marked()).toEqual([{ id, day: '2024-03-10' }]);
  });

  test('an event at the instant of a plan change belongs to the old subscription when it was stored before the change', async () => {
    await charge();
    const { store, jobs } = storage(database.sql);
    await store(incoming(organizationId, [{ timestamp: seconds(5) }]));
    await subscribe({ status: 'terminated', started: 2, terminated: 5 });
    const id = await subscribe({ started: 5 });
    await finishOpenBatches({ db: database.sql, organizationId });
    expect(jobs).toHaveLength(1);
    expect(await marked()).toEqual([]);
    await send({ timestamp: seconds(5) });
    expect((await marked()).map((row) => row.id)).toEqual([id]);
  });
});

describe('members of unique counts', () => {
  const seats = { code: 'seats', aggregation_type: 'unique_count_agg', field_name: 'seat', shape: [] };
  const members = async () =>
    (
      await database.sql<{ count: number }[]>`
        select count(*)::int as count from usage_uniques where organization_id = ${organizationId}`
    )[0]!.count;

  test('of a batch only the events of unique counts are read a second time', async () => {
    await charge({ shape: [] });
    await charge(seats);
    await subscribe();
    const { store, jobs } = storage(database.sql);
    const calls = Array.from({ length: 99 }, (): Sent => ({ timestamp: seconds(3) }));
    const batch = incoming(organizationId, [...calls, { code: 'seats', properties: { seat: 'a' } }]);
    await store(batch);
    const { batch_ids } = jobs.find(({ name }) => name === 'events.finish-batch')!.payload as { batch_ids: string[] };
    const read: unknown[] = [];
    const sql = connectDatabase(database.url, {
      connections: 1,
      onStatement: (text, [ids]) => void (text.includes('into usage_uniques') && read.push(ids)),
    });
    await sql.begin((tx) => finishBatches(tx, batch_ids));
    await sql.end();
    expect(read).toEqual([`{${batch.events.at(-1)!.id}}`]);
    expect(await members()).toBe(1);
  });

  test('a live shape gets its members also while its metric has another field already', async () => {
    await charge(seats);
    await subscribe();
    await database.sql`update billable_metrics set field_name = 'chair' where organization_id = ${organizationId}`;
    await send({ code: 'seats', properties: { seat: 'a' } });
    expect(await members()).toBe(1);
  });
});

/** Stores an event whose job is lost; `found` receives the batches that are enqueued again. */
async function loseJob() {
  await finishOpenBatches({ db: database.sql, organizationId });
  const { store } = storage(database.sql);
  await store(incoming(organizationId, [{}]));
  const found: string[] = [];
  const deps = {
    sql: database.sql,
    producer: {
      addMany: async (_name: string, items: { payload: unknown }[]) =>
        void found.push(...items.flatMap((item) => (item.payload as { batch_ids?: string[] }).batch_ids ?? [])),
    } as never,
  };
  return { deps, found };
}

test('a batch whose job was lost is enqueued again', async () => {
  const { deps, found } = await loseJob();
  const [batch] = await database.sql<{ id: string; enqueued_at: Temporal.Instant }[]>`
    select id, enqueued_at from event_batches where organization_ids @> array[${organizationId}::uuid]`;
  const later = batch!.enqueued_at.add({ minutes: 5 });
  await sweepEventBatches(deps, batch!.enqueued_at.subtract({ seconds: 1 }), later);
  expect(found).not.toContain(batch!.id);
  await sweepEventBatches(deps, batch!.enqueued_at, later);
  expect(found).toContain(batch!.id);
  await sweepEventBatches(deps, batch!.enqueued_at, later);
  expect(found.filter((id) => id === batch!.id)).toHaveLength(1);
});

test('an event that names a wallet which its customer lacks is announced by event.error where a charge accepts wallets', async () => {
  const { sql } = database;
  await subscribe();
  await charge();
  const wallet = (code: string, status: string) => sql`
    insert into wallets (id, organization_id, customer_id, billing_entity_id, code, status, priority, currency,
      rate_amount,
      created_at, updated_at)
    select ${newId()}, organization_id, id, billing_entity_id, ${code}, ${status}, 50, 'USD', 1, ${day(1)}, ${day(1)}
    from customers where organization_id = ${organizationId} and id = ${customerId}`;
  await wallet('open', 'active');
  await wallet('closed', 'terminated');
  const owed = async () =>
    await sql<{ payload: MissingWallets }[]>`
      select payload from after_steps where organization_id = ${organizationId} and job = 'tell-missing-wallets'`;
  const named = (transaction_id: string, code: string): Sent => ({
    transaction_id,
    properties: { target_wallet_code: code },
  });
  await send(named('a', 'closed'));
  expect(await owed()).toEqual([]);
  await sql`update charges set accepts_target_wallet = true where organization_id = ${organizationId}`;
  await send(named('b', 'open'), named('c', 'closed'), named('d', 'none'), { transaction_id: 'e' });
  const [step, ...others] = await owed();
  expect(others).toEqual([]);
  const told: { webhook?: WebhookEvent }[] = [];
  const ctx = { db: sql, organizationId, record: (entry: object) => told.push(entry) } as unknown as Context;
  await tellMissingWalletsStep(ctx, step!.payload);
  expect(told.map(({ webhook }) => webhook!.object)).toEqual(
    ['c', 'd'].map((transaction_id) => ({
      status: 422,
      error: 'Unprocessable entity',
      message: '{"target_wallet_code":["target_wallet_code_not_found"]}',
      event: expect.objectContaining({ transaction_id, external_subscription_id: 's', code: 'calls' }),
    })),
  );
  const body = (object: object) => ({
    webhook_type: 'event.error',
    object_type: 'event_error',
    organization_id: organizationId,
    event_error: object,
  });
  expect(told.flatMap(({ webhook }) => violationsOf(body(webhook!.object)))).toEqual([]);
});
