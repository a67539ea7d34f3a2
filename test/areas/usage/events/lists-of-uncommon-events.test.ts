import { afterAll, beforeAll, expect, test } from 'vitest';
import { countEvents, listEnrichedEvents, listEvents, MOST_CODES } from '../../../../src/areas/usage/events/queries.ts';
import type { Db } from '../../../../src/platform/db/connect.ts';
import { rowsOfEventsRead } from '../../../support/rows-of-events-read.ts';
import { startService, type TestService } from '../../../support/service.ts';

// Lists whose newest events were retracted in mass, and of a subscription with events of very many codes: what they
// read is bounded, as of other lists (events.md#lists).
let service: TestService;
type Organization = Awaited<ReturnType<TestService['org']>>;
let client: Organization;
const MANY = 60_000;
const CODES = 2000;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const idOf = ({ organization }: Organization) => organization.organization_id;
const rowsRead = (work: (db: Db) => Promise<unknown>) => rowsOfEventsRead(service, work);

/** Thirty events an instant, in the order in which their instants grow. */
async function insert(owner: Organization, count: number, code: string): Promise<void> {
  await service.sql`truncate events`;
  await service.sql`
    insert into events (id, organization_id, external_subscription_id, transaction_id, code, timestamp, properties,
      digest, created_at)
    select gen_random_uuid(), ${idOf(owner)}, 'sub-1', 'event-' || n, ${service.sql.unsafe(code)},
      timestamptz '2024-03-01T00:00:00Z' + n / 30 * interval '1 second', '{}', '\\x00', '2024-03-01T00:00:00Z'
    from generate_series(0, ${count - 1}::int) as n`;
}

const none = {
  code: undefined,
  external_subscription_id: undefined,
  transaction_id: undefined,
  timestamp_from: undefined,
  timestamp_to: undefined,
};
const PAGE = { page: 1, per_page: 20, after: null };

test('events that were retracted in mass are not read for pages', async () => {
  client = await service.org();
  const organizationId = idOf(client);
  await insert(client, MANY, "case when n % 100 = 50 then 'rare' else 'common-' || n % 2 end");
  await service.sql`update events set deleted_at = now(), version = 2 where timestamp > '2024-03-01T00:00:20Z'`;
  await service.sql`analyze events`;
  // 630 are left, 6 of them rare. A table of this size is counted from its beginning, a larger one by the same index.
  for (const [code, shown] of [
    [undefined, 20],
    ['common-1', 20],
    ['rare', 6],
  ] as const) {
    const filters = { ...none, code };
    expect(await listEvents({ db: service.sql as unknown as Db, organizationId }, filters, PAGE)).toHaveLength(shown);
    for (const list of [listEvents, listEnrichedEvents])
      expect(await rowsRead((db) => list({ db, organizationId }, filters, PAGE))).toBeLessThan(200);
  }
});

test('a list of a subscription does not read its own events that were retracted in mass', async () => {
  client = await service.org();
  const organizationId = idOf(client);
  await insert(client, MANY, "case when n % 2 = 0 then 'even' else 'odd' end");
  await service.sql`update events set deleted_at = now(), version = 2 where timestamp > '2024-03-01T00:00:20Z'`;
  for (const code of [undefined, 'even']) {
    const filters = { ...none, external_subscription_id: 'sub-1', code };
    expect(await listEvents({ db: service.sql as unknown as Db, organizationId }, filters, PAGE)).toHaveLength(20);
    for (const list of [listEvents, listEnrichedEvents])
      expect(await rowsRead((db) => list({ db, organizationId }, filters, PAGE))).toBeLessThan(250);
    expect(await rowsRead((db) => countEvents({ db, organizationId }, filters))).toBeLessThan(700);
  }
});

test('of a subscription with very many codes a page reads the newest event of each, and its own', async () => {
  client = await service.org();
  const organizationId = idOf(client);
  await insert(client, MANY, `'code-' || n % ${CODES}`);
  await service.sql`analyze events`;
  const filters = { ...none, external_subscription_id: 'sub-1' };
  const after = {
    timestamp: '2024-03-01T00:10:00.000000Z',
    transaction_id: 'event-5',
    id: '018f30aa-0000-7000-8000-000000000000',
  };
  for (const list of [listEvents, listEnrichedEvents]) {
    const read = (page: Parameters<typeof list>[2]) => rowsRead((db) => list({ db, organizationId }, filters, page));
    // A probe of each code, its newest event and the one before, then 5 and 20 of the codes of the page.
    expect(await read(PAGE)).toBeLessThan(3 * CODES + 300);
    expect(await read({ ...PAGE, after })).toBeLessThan(4 * CODES + 600);
  }
  expect(await rowsRead((db) => countEvents({ db, organizationId }, filters))).toBeLessThan(10_500 + 2 * CODES);
});

test('a page of a subscription with very many codes is that of the organization', async () => {
  const whole = (await client.get('/events?external_subscription_id=sub-1&per_page=1000')).body;
  const inOrder = (await client.get('/events?per_page=1000')).body;
  expect(whole.events).toHaveLength(1000);
  expect(whole.events).toEqual(inOrder.events);
  const deep = await client.get('/events?external_subscription_id=sub-1&per_page=1000&page=40');
  expect(deep.body.error_details).toEqual({ page: ['value_is_out_of_range'] });
});

test('a list of a subscription with more codes than are looked at asks for one', async () => {
  client = await service.org();
  await insert(client, MOST_CODES + 1, "'code-' || n");
  const whole = await client.get('/events?external_subscription_id=sub-1');
  expect(whole.status).toBe(422);
  expect(whole.body.error_details).toEqual({ code: ['value_is_mandatory'] });
  expect((await client.get('/events?external_subscription_id=sub-1&code=code-7')).body.events).toHaveLength(1);
});
