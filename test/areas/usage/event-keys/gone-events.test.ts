import type { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOrganization } from '../../../../src/areas/tenancy/organizations/commands.ts';
import { forgetOldKeys } from '../../../../src/areas/usage/event-keys/old-keys.ts';
import { realNow } from '../../../../src/platform/clock/real-clock.ts';
import type { Sql } from '../../../../src/platform/db/connect.ts';
import type { OrganizationId } from '../../../../src/platform/ids.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { incoming, storage } from '../ingest-events/build.ts';

let database: TestDatabase;
let sql: Sql;
let organizationId: OrganizationId;
beforeAll(async () => {
  database = await createTestDatabase();
  sql = database.sql;
  organizationId = (await createOrganization(sql, { name: 'Old', sandbox: false })).organization_id as OrganizationId;
});
afterAll(() => database.drop());

const store = async (...events: object[]) =>
  (await storage(sql).store(incoming(organizationId, events, { atomic: false })))[0]!;
const keys = async () => (await sql`select from event_keys where organization_id = ${organizationId}`).length;

test('an event sent again after it is gone is answered with its id and times, another one is refused (SC6)', async () => {
  const event = { transaction_id: 'old', external_subscription_id: 's', timestamp: 10, properties: { a: 1 } };
  await store(event);
  const [stored] = await sql<{ id: string }[]>`select id from events where transaction_id = 'old'`;
  const [before] = await store(event);
  await sql`delete from events where transaction_id = 'old'`;

  const { timestamp: _, ...withoutTime } = event;
  const [again, timeless, otherTime, otherContent] = await store(
    event,
    withoutTime,
    { ...event, timestamp: 11 },
    { ...event, properties: { a: 2 } },
  );
  const shown = JSON.parse((before as { r: string }).r);
  const made = new Date(Number.parseInt(stored!.id.replace('-', '').slice(0, 12), 16)).toISOString().slice(0, 19);
  for (const verdict of [again, timeless])
    expect(JSON.parse((verdict as { r: string }).r)).toEqual({ ...shown, created_at: `${made}Z` });
  expect(shown).toMatchObject({ svc_id: stored!.id, timestamp: '1970-01-01T00:00:10.000Z', properties: { a: 1 } });
  expect([otherTime, otherContent]).toEqual([1, 1]);
  expect(await sql`select from events where transaction_id = 'old'`).toHaveLength(0);
});

test('old keys of events that are gone are forgotten where that is set, and no others', async () => {
  await sql`delete from event_keys`;
  await store({ transaction_id: 'gone' }, { transaction_id: 'kept' });
  await sql`delete from events where transaction_id = 'gone'`;
  const forget = async (months: number | undefined, at: Temporal.Instant) => {
    // Each of the sixteen parts has its day, also where a month ends in between.
    for (let day = 0; day < 16; day += 1)
      await forgetOldKeys(
        { sql, config: { EVENT_KEYS_RETENTION_MONTHS: months } as never },
        at.add({ hours: 24 * day }),
      );
  };
  const inAYear = realNow().add({ hours: 24 * 366 });
  await forget(undefined, inAYear);
  await forget(13, inAYear);
  expect(await keys()).toBe(2);
  await forget(11, inAYear);
  expect(await keys()).toBe(1);
  expect(await store({ transaction_id: 'gone' })).toEqual([0]);
  const [kept] = await store({ transaction_id: 'kept', timestamp: 5 });
  expect(kept).toBe(1);
});
