import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { countEvents, listEnrichedEvents, listEvents } from '../../../../src/areas/usage/events/queries.ts';
import type { Db } from '../../../../src/platform/db/connect.ts';
import { keepEventKeys } from '../../../support/keep-event-keys.ts';
import { rowsOfEventsRead } from '../../../support/rows-of-events-read.ts';
import { startService, type TestService } from '../../../support/service.ts';

// Lists of many events: lists.md#filters-and-order "/events", to any depth by `after`.
let service: TestService;
type Organization = Awaited<ReturnType<TestService['org']>>;
let few: Organization;
let many: Organization;
const MANY = 60_000;

beforeAll(async () => {
  service = await startService();
  few = await service.org();
  many = await service.org();
  // Three subscriptions share transaction ids, and ten events of each have one instant.
  await insert(few, 300, '10 minutes');
  await insert(many, MANY, '1 second');
  await keepEventKeys(service.sql);
  await service.sql`analyze events`;
});
afterAll(() => service.stop());

const insert = (client: Organization, count: number, step: string) => service.sql`
  insert into events (id, organization_id, external_subscription_id, transaction_id, code, timestamp, properties,
    digest,
    created_at)
  select gen_random_uuid(), ${client.organization.organization_id}, 'sub-' || n % 3, 'event-' || n / 3,
    case when n % 100 = 50 then 'rare' else 'common-' || n % 2 end,
    timestamptz '2024-03-01T00:00:00Z' + n / 30 * ${step}::text::interval, '{}', '\\x00', '2024-03-01T00:00:00Z'
  from generate_series(0, ${count - 1}::int) as n`;

const FILTERS = [
  '',
  'code=rare',
  'code=common-1',
  'external_subscription_id=sub-1',
  'external_subscription_id=sub-1&code=common-1',
  'transaction_id=event-7',
  'timestamp_from=2024-03-01T00:30:00Z&timestamp_to=2024-03-01T01:10:00Z',
  'external_subscription_id=sub-2&timestamp_to=2024-03-01T01:10:00Z',
];

for (const path of ['/events', '/events_enriched']) {
  test.each(FILTERS)(`${path}?%s: pages behind a cursor equal the list in its order`, async (filters) => {
    const whole = (await few.get(`${path}?per_page=1000&${filters}`)).body;
    expect(whole.meta).not.toHaveProperty('next_cursor');
    expect(whole.meta).toMatchObject({ total_count: whole.events.length });
    const walked: unknown[] = [];
    for (let after: string | undefined; ; ) {
      const { body } = await few.get(`${path}?per_page=7&${filters}${after === undefined ? '' : `&after=${after}`}`);
      expect(body.events.length).toBeLessThanOrEqual(7);
      walked.push(...body.events);
      after = body.meta.next_cursor;
      if (after === undefined) break;
    }
    expect(walked).toEqual(whole.events);
    expect(walked.length).toBeGreaterThan(0);
  });
}

test('events are ordered by timestamp, newest first, then by transaction id, then the newest id', async () => {
  const { events } = (await few.get('/events?per_page=1000')).body;
  const key = ({ timestamp, transaction_id, svc_id }: Record<string, string>) => ({
    timestamp,
    transaction_id,
    svc_id,
  });
  const sorted = events.map(key).sort((a: ReturnType<typeof key>, b: ReturnType<typeof key>) => {
    if (a.timestamp !== b.timestamp) return a.timestamp! > b.timestamp! ? -1 : 1;
    if (a.transaction_id !== b.transaction_id) return a.transaction_id!.localeCompare(b.transaction_id!, 'en') || 1;
    return a.svc_id! > b.svc_id! ? -1 : 1;
  });
  expect(events.map(key)).toEqual(sorted);
});

test('more than 10 000 events are counted by estimate, and the answer says so', async () => {
  const { meta } = (await many.get('/events?per_page=100')).body;
  expect(meta).toMatchObject({ current_page: 1, next_page: 2, total_count_estimated: true });
  expect(meta.total_count).toBeGreaterThan(MANY / 2);
  expect(meta.total_count).toBeLessThan(MANY * 2);
  expect(meta.total_pages).toBe(Math.ceil(meta.total_count / 100));
  const rare = (await many.get('/events?code=rare')).body.meta;
  expect(rare).toEqual({
    current_page: 1,
    next_page: 2,
    prev_page: null,
    total_pages: 30,
    total_count: 600,
    next_cursor: expect.any(String),
  });
});

test('a page by number too deep in a long list of events is refused; one beyond the end of a short list is empty', async () => {
  expect((await many.get('/events?per_page=1000&page=51')).body.events).toHaveLength(1000);
  const deep = await many.get('/events?per_page=1000&page=52');
  expect(deep.status).toBe(422);
  expect(deep.body).toMatchObject({ code: 'validation_errors', error_details: { page: ['value_is_out_of_range'] } });
  const behind = await few.get('/events?per_page=1000&page=1000000000');
  expect(behind.status).toBe(200);
  expect(behind.body).toEqual({
    events: [],
    meta: { current_page: 1_000_000_000, next_page: null, prev_page: 999_999_999, total_pages: 1, total_count: 300 },
  });
});

const cursor = (parts: unknown) => Buffer.from(JSON.stringify(parts)).toString('base64url');
const ID = '018f30aa-0000-7000-8000-000000000000';

test.each([
  'x',
  '%F0%9F%98%80',
  cursor(null),
  cursor({}),
  cursor(['2024-03-01T00:00:00.000000Z', 'a']),
  cursor(['2024-03-01', 'a', ID]),
  cursor(['2024-13-01T00:00:00.000000Z', 'a', ID]),
  cursor(['2024-03-01T00:00:00.000000Z', 'a\0', ID]),
  cursor(['2024-03-01T00:00:00.000000Z', 7, ID]),
  cursor(['2024-03-01T00:00:00.000000Z', 'a', 'b']),
])('the cursor after=%s is refused', async (after) => {
  const answer = await few.get(`/events?after=${after}`);
  expect(answer.status).toBe(422);
  expect(answer.body.error_details).toEqual({ after: ['value_is_invalid'] });
});

const rowsRead = (work: (db: Db) => Promise<unknown>) => rowsOfEventsRead(service, work);

const MIDDLE = Temporal.Instant.from('2024-03-01T00:16:40Z');
const NARROW = { timestamp_from: MIDDLE, timestamp_to: MIDDLE.add({ seconds: 2 }) };
const SELECTIONS = [
  {},
  { code: 'rare' },
  { code: 'common-1' },
  { code: 'unknown' },
  { external_subscription_id: 'sub-1' },
  { external_subscription_id: 'unknown' },
  { external_subscription_id: 'sub-1', code: 'common-1' },
  { external_subscription_id: 'sub-1', code: 'rare' },
  { transaction_id: 'event-777' },
  { transaction_id: 'event-777', code: 'common-1' },
  { transaction_id: 'event-777', external_subscription_id: 'sub-1' },
];
const TIMES = [{}, { timestamp_from: MIDDLE }, { timestamp_to: MIDDLE }, NARROW];

test.each(SELECTIONS)(
  'pages and counts of %j read a bounded number of events, whatever times and however deep',
  async (of) => {
    const organizationId = many.organization.organization_id;
    const place = { timestamp: '2024-03-01T00:10:00.000000Z', transaction_id: 'event-5', id: ID };
    for (const times of TIMES) {
      const filters = { ...none, ...of, ...times };
      for (const after of [null, place])
        for (const list of [listEvents, listEnrichedEvents]) {
          const read = await rowsRead((db) => list({ db, organizationId }, filters, { page: 1, per_page: 20, after }));
          // The newest and some of each of three codes, then 20, twice behind a place, and those of the last instant.
          expect(read, JSON.stringify({ times, after })).toBeLessThan(500);
        }
      // As many as are counted one by one, and a few beside them; of a subscription as many of each of two codes.
      const isByCode = filters.external_subscription_id === 'sub-1' && filters.code === undefined;
      const counted = await rowsRead((db) => countEvents({ db, organizationId }, filters));
      expect(counted, JSON.stringify(times)).toBeLessThan(isByCode ? 20_500 : 10_500);
    }
  },
);

const none = {
  code: undefined,
  external_subscription_id: undefined,
  transaction_id: undefined,
  timestamp_from: undefined,
  timestamp_to: undefined,
};
