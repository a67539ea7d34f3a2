import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { lockOrganizationEvents } from '../../../../src/areas/catalog/usage-shapes/shape-locks.ts';
import { createOrganization } from '../../../../src/areas/tenancy/organizations/commands.ts';
import { HELD, type IncomingBatch } from '../../../../src/areas/usage/events/incoming-event.ts';
import { storeEvents } from '../../../../src/areas/usage/ingest-events/store-events.ts';
import { storeShared } from '../../../../src/areas/usage/ingest-events/store-shared.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { incoming, storage } from './build.ts';

let database: TestDatabase;
let statements: string[] = [];
beforeAll(async () => {
  database = await createTestDatabase({ onStatement: (text) => statements.push(text.trim()) });
});
afterAll(() => database.drop());

const NEIGHBOURS = 5;
let poisonous: string;
let neighbours: string[];
beforeEach(async () => {
  const create = async () => (await createOrganization(database.sql, { name: 'Acme', sandbox: false })).organization_id;
  poisonous = await create();
  neighbours = await Promise.all(Array.from({ length: NEIGHBOURS }, create));
});

/** Two batches of the poisonous organization among one of each neighbour. */
const mixedWith = (poison: IncomingBatch): IncomingBatch[] => {
  const own = neighbours.map((id) => incoming(id, [{ transaction_id: 'a' }]));
  return [own[0]!, poison, ...own.slice(1, 3), incoming(poisonous, [{ transaction_id: 'good' }]), ...own.slice(3)];
};
const STORED_BUT_HELD = [[0], HELD, [0], [0], HELD, [0], [0]];

const stored = async (id: string) => {
  const rows = await database.sql<{ transaction_id: string }[]>`
    select transaction_id from events where organization_id = ${id} order by transaction_id`;
  return rows.map((row) => row.transaction_id);
};

test('batches of many organizations share one statement', async () => {
  const { deps } = storage(database.sql);
  const good = mixedWith(incoming(poisonous, [{ transaction_id: 'b' }]));
  await storeShared(deps, good); // reads the catalogs
  statements = [];
  const next = mixedWith(incoming(poisonous, [{ transaction_id: 'c' }])).map((batch) => ({
    ...batch,
    events: batch.events.map((event) => ({ ...event, transaction_id: `${event.transaction_id}-2` })),
  }));
  expect(await storeShared(deps, next)).toEqual(next.map(() => [0]));
  expect(statements).toHaveLength(1);
});

test('a value that cannot be stored sets its organization apart and no other, and is then refused alone', async () => {
  const { deps } = storage(database.sql);
  const poison = incoming(poisonous, [{ transaction_id: 'bad' }]);
  poison.events[0]!.precise_total_amount_cents = `1${'0'.repeat(40)}`;
  const batches = mixedWith(poison);
  expect(await storeShared(deps, batches)).toEqual(STORED_BUT_HELD);
  for (const id of neighbours) expect(await stored(id)).toEqual(['a']);
  expect(await stored(poisonous)).toEqual([]);
  expect(await storeEvents(deps, [poison, batches[4]!])).toEqual([
    [{ e: expect.objectContaining({ status: 422 }) }],
    [0],
  ]);
});

test.each([
  ['its events are', (sql: TestDatabase['sql']) => lockOrganizationEvents({ db: sql, organizationId: poisonous })],
  [
    'a key of them is',
    (sql: TestDatabase['sql']) =>
      sql`delete from event_keys where organization_id = ${poisonous} and transaction_hash = event_hash('locked')`,
  ],
])('an organization waits while %s locked, and the others are stored after a second', async (_what, lock) => {
  const { deps } = storage(database.sql);
  const poison = () => incoming(poisonous, [{ transaction_id: 'locked' }]);
  await storeEvents(deps, [poison()]);
  const holder = await database.sql.reserve();
  await holder`begin`;
  await lock(holder as unknown as TestDatabase['sql']);
  const started = performance.now();
  const batches = mixedWith(poison());
  // One of two batches would do without the locked key; they are held together, and nothing of them is doubled later.
  const verdicts = await storeShared(deps, batches);
  // The lock is still held: the shared statement gave up after a second, and the others did not wait for it.
  expect(performance.now() - started).toBeGreaterThan(1000);
  expect(verdicts).toEqual(STORED_BUT_HELD);
  for (const id of neighbours) expect(await stored(id)).toEqual(['a']);
  await holder`rollback`;
  holder.release();
  expect((await storeEvents(deps, [batches[1]!, batches[4]!])).flat()).toHaveLength(2);
  expect(await stored(poisonous)).toEqual(['good', 'locked']);
});

// A job whose process stood still is given out again, to another process too, which knows nothing of the first.
test('a copy of a job that is still being stored elsewhere sets its organization apart and stores nothing twice', async () => {
  const { deps } = storage(database.sql);
  const copied = incoming(poisonous, [{ transaction_id: 'copied' }]);
  const holder = await database.sql.reserve();
  await holder`begin`;
  expect(await storeEvents({ ...deps, sql: holder as unknown as typeof deps.sql }, [copied])).toEqual([[0]]);
  const started = performance.now();
  expect(await storeShared(deps, mixedWith(copied))).toEqual(STORED_BUT_HELD);
  expect(performance.now() - started).toBeLessThan(3500); // a second together and a quarter apart, on a busy machine
  for (const id of neighbours) expect(await stored(id)).toEqual(['a']);
  await holder`commit`;
  holder.release();
  expect(await storeEvents(deps, [copied])).toEqual([[0]]); // the event itself is there: stored as sent
  expect(await stored(poisonous)).toEqual(['copied']);
});

test('batches of one organization alone are set apart at once', async () => {
  const { deps } = storage(database.sql);
  const holder = await database.sql.reserve();
  await holder`begin`;
  await lockOrganizationEvents({ db: holder as unknown as TestDatabase['sql'], organizationId: poisonous });
  expect(await storeShared(deps, [incoming(poisonous, [{}]), incoming(poisonous, [{}, {}])])).toEqual([HELD, HELD]);
  await holder`rollback`;
  holder.release();
});
