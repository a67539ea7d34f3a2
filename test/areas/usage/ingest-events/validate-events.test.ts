import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createOrganization } from '../../../../src/areas/tenancy/organizations/commands.ts';
import { validateEvents } from '../../../../src/areas/usage/ingest-events/validate-events.ts';
import type { Context, WebhookEvent } from '../../../../src/platform/context.ts';
import { newId } from '../../../../src/platform/ids.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database.ts';
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
async function told(at = TICK): Promise<WebhookEvent[]> {
  const found = await validateEvents.select(database.sql, at, scope(), 10);
  const webhooks: WebhookEvent[] = [];
  const ctx = {
    organizationId,
    db: database.sql,
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
