import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createOrganization } from '../../../../src/areas/tenancy/organizations/commands.ts';
import type { IncomingBatch } from '../../../../src/areas/usage/events/incoming-event.ts';
import { finishOpenBatches } from '../../../../src/areas/usage/ingest-events/finish-batches.ts';
import { validateEvents } from '../../../../src/areas/usage/ingest-events/validate-events.ts';
import type { Context, WebhookEvent } from '../../../../src/platform/context.ts';
import type { Db } from '../../../../src/platform/db/connect.ts';
import { newId } from '../../../../src/platform/ids.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { rowsOfEventsRead } from '../../../support/rows-of-events-read.ts';
import { incoming, makeMetric, storage } from './build.ts';

let database: TestDatabase;
let organizationId: string;

const TICK = Temporal.Instant.from('2024-03-10T13:05:00Z');
const scope = () => ({ organizationId });

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  const { sql } = database;
  organizationId = (await createOrganization(sql, { name: 'Acme', sandbox: false })).organization_id;
  await sql`
    insert into webhook_endpoints (id, organization_id, webhook_url, secret, created_at, updated_at)
    values (${newId()}, ${organizationId}, 'https://example.com', 's', ${TICK}, ${TICK})`;
  const { id } = await makeMetric(sql, organizationId, { code: 'spend', aggregation_type: 'sum_agg', field_name: 'n' });
  await sql`
    insert into billable_metric_filters (id, organization_id, billable_metric_id, key, "values", created_at, updated_at)
    values (${newId()}, ${organizationId}, ${id}, 'region', ${['eu']}, ${TICK}, ${TICK})`;
});

const event = (transaction_id: string, properties: object, code = 'spend') => ({ transaction_id, code, properties });
/** Events received at 12:00. */
const store = (...events: ReturnType<typeof event>[]) =>
  storage(database.sql).store(incoming(organizationId, events, { received_at: '2024-03-10T12:00:00.000000Z' }));

/** What the tick at 13:05, or another one, tells. */
async function told(at = TICK, options: { sandbox?: boolean } = {}): Promise<WebhookEvent[]> {
  return toldOf(database.sql, {
    found: (await validateEvents.select(database.sql, at, scope(), { limit: 10 })).items,
    at,
    ...options,
  });
}

type Selected = Awaited<ReturnType<typeof validateEvents.select>>['items'];

/** What the work on selected items tells. */
async function toldOf(
  db: Db,
  { found, at, sandbox = false }: { found: Selected; at: Temporal.Instant; sandbox?: boolean },
): Promise<WebhookEvent[]> {
  const webhooks: WebhookEvent[] = [];
  const ctx = {
    organizationId,
    sandbox,
    db,
    record: ({ webhook }: { webhook: WebhookEvent }) => webhooks.push(webhook),
  } as unknown as Context;
  for (const { item } of found) await validateEvents.work(ctx, item, at);
  return webhooks;
}

test('events that no metric counts as sent are announced once', async () => {
  await store(
    event('good', { n: 1, region: 'eu' }),
    event('code', { n: 1 }, 'other'),
    event('absent', {}),
    event('text', { n: '1e3' }),
    event('value', { n: 1, region: 'mars' }),
  );
  expect(await validateEvents.nextDueAt({ db: database.sql, organizationId }, TICK.subtract({ hours: 1 }))).toEqual(
    Temporal.Instant.from('2024-03-10T13:00:00Z'),
  );
  expect(await told()).toEqual([
    {
      type: 'events.errors',
      objectType: 'events_errors',
      objectId: null,
      object: {
        invalid_code: ['code'],
        missing_aggregation_property: ['absent', 'text'],
        missing_group_key: [],
        invalid_filter_values: ['value'],
      },
    },
  ]);
  expect(await told()).toEqual([]);
  expect(await validateEvents.nextDueAt({ db: database.sql, organizationId }, TICK)).toBeNull();
});

test('the validation of events skips the hour in progress and hours more than a day ago', async () => {
  await store(event('code', { n: 1 }, 'other'));
  expect(await told(TICK.subtract({ minutes: 6 }))).toEqual([]);
  expect(await told(TICK.add({ hours: 24 }))).toEqual([]);
});

test('nothing is announced for good events or for organizations without webhook endpoints', async () => {
  await store(event('good', { n: 1 }));
  expect(await told()).toEqual([]);
  await store(event('code', { n: 1 }, 'other'));
  await database.sql`update webhook_endpoints set status = 'disabled' where organization_id = ${organizationId}`;
  await database.sql`delete from event_checks where organization_id = ${organizationId}`;
  expect(await told()).toEqual([]);
  expect(await validateEvents.nextDueAt({ db: database.sql, organizationId }, TICK)).toBeNull();
});

test('under a test clock a check reads what came since the one before, and a look for the next one too', async () => {
  const { sql } = database;
  const at = (time: string) => Temporal.Instant.from(`2024-03-10T${time}:00Z`);
  const frozen = (time: string) => sql`
    update test_clocks set frozen_time = ${at(time)} where organization_id = ${organizationId}`;
  const send = (count: number, code: string) =>
    storage(sql).store(
      incoming(
        organizationId,
        Array.from({ length: count }, (_, n) => event(`${code}-${n}`, { n: 1 }, code)),
        { sandbox: true },
      ),
    );
  const invalid = (webhooks: WebhookEvent[]) =>
    webhooks.map(({ object }) => (object as { invalid_code: string[] }).invalid_code);
  await sql`update organizations set sandbox = true where id = ${organizationId}`;
  await sql`
    insert into test_clocks (organization_id, frozen_time, created_at)
    values (${organizationId}, ${at('12:00')}, ${TICK})`;
  await send(400, 'early');
  expect(invalid(await told(at('13:05'), { sandbox: true }))[0]).toHaveLength(400);
  await frozen('13:30');
  await send(3, 'late');
  await frozen('14:30');
  await send(2, 'open');
  const { items: selected } = await validateEvents.select(sql, at('14:05'), scope(), { limit: 10 });
  const { found, read } = await readOf(async (tx) => ({
    next: await validateEvents.nextDueAt({ db: tx, organizationId }, at('13:30')),
    told: await toldOf(tx, { found: selected, at: at('14:05'), sandbox: true }),
    after: await validateEvents.nextDueAt({ db: tx, organizationId }, at('14:30')),
  }));
  expect({ ...found, told: invalid(found.told) }).toEqual({
    next: at('14:00'),
    told: [['late-0', 'late-1', 'late-2']],
    after: at('15:00'),
  });
  expect(read).toBeLessThan(50); // six events are looked at by four statements
  expect(invalid(await told(at('15:05'), { sandbox: true }))).toEqual([['open-0', 'open-1']]);
  expect(await validateEvents.nextDueAt({ db: sql, organizationId }, at('15:05'))).toBeNull();
});

test('an event that was read from its request before the test clock moved, and stored later, is checked', async () => {
  const { sql } = database;
  const at = (time: string) => Temporal.Instant.from(`2024-03-10T${time}:00Z`);
  await sql`update organizations set sandbox = true where id = ${organizationId}`;
  await sql`
    insert into test_clocks (organization_id, frozen_time, created_at)
    values (${organizationId}, ${at('12:00')}, ${TICK})`;
  const batchOf = (code: string) => incoming(organizationId, [event(code, { n: 1 }, code)], { sandbox: true });
  const slow = batchOf('slow');
  await finished(batchOf('quick'));
  expect(await told(at('13:05'), { sandbox: true })).toMatchObject([{ object: { invalid_code: ['quick'] } }]);
  await sql`update test_clocks set frozen_time = ${at('13:30')} where organization_id = ${organizationId}`;
  await finished(slow);
  expect(await validateEvents.nextDueAt({ db: sql, organizationId }, at('13:30'))).toEqual(at('14:00'));
  expect(await told(at('14:05'), { sandbox: true })).toMatchObject([{ object: { invalid_code: ['slow'] } }]);
});

/** Stores a batch and does what follows. */
async function finished(batch: IncomingBatch): Promise<void> {
  const { sql } = database;
  await storage(sql).store(batch);
  await finishOpenBatches({ db: sql, organizationId });
}

/** How many rows of events a piece of work reads, where no table is so small that it is read as a whole. */
async function readOf<Found>(work: (tx: Db) => Promise<Found>): Promise<{ found: Found; read: number }> {
  let found: Found;
  const read = await rowsOfEventsRead(database, async (tx) => {
    await tx`set local enable_seqscan = off`;
    found = await work(tx);
  });
  return { found: found!, read };
}
