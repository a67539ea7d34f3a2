import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { lockHeads, makeHeads, numberEvents } from '../../../src/areas/messaging/number-events/feed-heads.ts';
import { numberWaitingEvents } from '../../../src/areas/messaging/number-events/sequencer.ts';
import { shortenFeeds } from '../../../src/areas/messaging/number-events/shorten-feeds.ts';
import { realNow } from '../../../src/platform/clock/real-clock.ts';
import type { Db } from '../../../src/platform/db/connect.ts';
import { emptyRecords, writeRecords } from '../../../src/platform/records/write-records.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const write = (db: Db, organizationId: string, name: string) => {
  const records = emptyRecords();
  records.webhooks.push({ type: 'customer.created', objectType: 'customer', objectId: null, object: { name } });
  const now = realNow();
  return writeRecords(db, { organizationId, actor: { source: 'system', apiKeyId: null }, now, realNow: now }, records);
};

async function readFeed(organizationId: string, after = 0): Promise<{ sequence: number; name: string }[]> {
  const rows = await database.sql<{ sequence: number; payload: string }[]>`
    select sequence, payload from webhook_events
    where organization_id = ${organizationId} and sequence > ${after} order by sequence`;
  return rows.map(({ sequence, payload }) => ({ sequence, name: JSON.parse(payload).customer.name }));
}

const numberAll = async () => {
  while (await numberWaitingEvents(database.sql));
};

test('a reader of many writers gets every committed event once, numbered from 1 without a gap (FE1)', async () => {
  const organizationId = randomUUID();
  const committed: string[] = [];
  let open = 20;
  const writer = async (writerNumber: number) => {
    for (let turn = 0; turn < 50; turn += 1) {
      const name = `${writerNumber}-${turn}`;
      const kept = await database.sql
        .begin(async (tx) => {
          await write(tx, organizationId, name);
          if ((writerNumber + turn) % 5 === 0) throw new Error('rolled back');
          return true;
        })
        .catch(() => false);
      if (kept) committed.push(name);
    }
    open -= 1;
  };
  const seen: { sequence: number; name: string }[] = [];
  const read = async () => seen.push(...(await readFeed(organizationId, seen.at(-1)?.sequence ?? 0)));
  const sequencer = async () => {
    while (open > 0) await numberWaitingEvents(database.sql);
  };
  const reader = async () => {
    while (open > 0) await read();
  };
  await Promise.all([...Array.from({ length: 20 }, (_, index) => writer(index)), sequencer(), sequencer(), reader()]);
  await numberAll();
  await read();
  expect(seen.map(({ sequence }) => sequence)).toEqual(committed.map((_, index) => index + 1));
  expect(seen.map(({ name }) => name).sort()).toEqual(committed.sort());
});

test('a pass that dies leaves neither a gap nor a number twice (FE2)', async () => {
  const organizationId = randomUUID();
  for (const name of ['a', 'b', 'c']) await write(database.sql, organizationId, name);
  const dying = database.sql.begin(async (tx) => {
    await makeHeads(tx, [organizationId]);
    await numberEvents(tx, await lockHeads(tx, [organizationId]), 1000);
    throw new Error('killed');
  });
  await expect(dying).rejects.toThrow('killed');
  expect(await readFeed(organizationId)).toEqual([]);
  await numberAll();
  await write(database.sql, organizationId, 'd');
  await numberAll();
  expect(await readFeed(organizationId)).toEqual([
    { sequence: 1, name: 'a' },
    { sequence: 2, name: 'b' },
    { sequence: 3, name: 'c' },
    { sequence: 4, name: 'd' },
  ]);
});

test('an event that waits for another transaction is numbered after it, and a late commit comes late (FE3)', async () => {
  const organizationId = randomUUID();
  await database.sql`insert into feed_heads (organization_id) values (${organizationId})`;
  let finishLate = () => {};
  const finish = new Promise<void>((resolve) => {
    finishLate = resolve;
  });
  let written = () => {};
  const isWritten = new Promise<void>((resolve) => {
    written = resolve;
  });
  const late = database.sql.begin(async (tx) => {
    await write(tx, organizationId, 'late');
    written();
    await finish;
  });
  await isWritten;
  await write(database.sql, organizationId, 'created');
  await write(database.sql, organizationId, 'updated');
  await numberAll();
  expect((await readFeed(organizationId)).map(({ name }) => name)).toEqual(['created', 'updated']);
  finishLate();
  await late;
  await numberAll();
  expect((await readFeed(organizationId)).map(({ name }) => name)).toEqual(['created', 'updated', 'late']);
});

test('a pass numbers a thousand events of an organization and reports that there are more', async () => {
  const organizationId = randomUUID();
  await database.sql`
    insert into webhook_events (id, organization_id, webhook_type, object_type, occurred_at, payload, created_at)
    select gen_random_uuid(), ${organizationId}, 'customer.created', 'customer', ${realNow()}, '{"customer":{}}',
      ${realNow()}
    from generate_series(1, 1001)`;
  expect(await numberWaitingEvents(database.sql)).toBe(true);
  expect((await readFeed(organizationId)).length).toBe(1000);
  expect(await numberWaitingEvents(database.sql)).toBe(false);
  expect((await readFeed(organizationId)).length).toBe(1001);
  expect(await numberWaitingEvents(database.sql)).toBe(false);
});

test('old events leave the start of the feed, and one whose delivery is kept stays stored', async () => {
  const { sql } = database;
  const organizationId = randomUUID();
  for (const name of ['a', 'b', 'c', 'd']) await write(sql, organizationId, name);
  await numberAll();
  await sql`
    update webhook_events set created_at = created_at - interval '31 days'
    where organization_id = ${organizationId} and sequence in (1, 2, 4)`;
  const endpointId = randomUUID();
  const organization = randomUUID();
  await sql`
    insert into organizations (id, name, slug, hmac_key, sandbox, document_number_prefix, created_at, updated_at)
    values (${organization}, 'Acme', ${organization}, 'k', false, 'ACM-0001', ${realNow()}, ${realNow()})`;
  await sql`
    insert into webhook_endpoints (id, organization_id, webhook_url, secret, created_at, updated_at)
    values (${endpointId}, ${organization}, 'https://a.example', 's', ${realNow()}, ${realNow()})`;
  await sql`
    insert into webhook_deliveries (id, organization_id, webhook_endpoint_id, event_id, endpoint, created_at,
      updated_at)
    select gen_random_uuid(), organization_id, ${endpointId}, id, 'https://a.example', ${realNow()}, ${realNow()}
    from webhook_events where organization_id = ${organizationId} and sequence = 2`;
  await shortenFeeds(sql, realNow().subtract({ hours: 24 * 30 }));
  const [head] = await sql`select first, last from feed_heads where organization_id = ${organizationId}`;
  expect(head).toEqual({ first: 3, last: 4 });
  expect((await readFeed(organizationId)).map(({ sequence }) => sequence)).toEqual([2, 3, 4]);
  await sql`delete from webhook_endpoints where id = ${endpointId}`;
  await sql`update webhook_events
    set created_at = created_at - interval '31 days' where organization_id = ${organizationId}`;
  await shortenFeeds(sql, realNow().subtract({ hours: 24 * 30 }));
  expect(await readFeed(organizationId)).toEqual([]);
  await write(sql, organizationId, 'e');
  await numberAll();
  expect(await readFeed(organizationId)).toEqual([{ sequence: 5, name: 'e' }]);
});
