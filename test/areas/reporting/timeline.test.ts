import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cursorOf, placeOf } from '../../../src/areas/reporting/timeline/cursor.ts';
import { showCustomerTimeline } from '../../../src/areas/reporting/timeline/reads.ts';
import { CustomerTimelineQuery } from '../../../src/areas/reporting/timeline/schema.ts';
import { countReads, readingAt } from '../../support/count-statements.ts';
import { startService, type TestService } from '../../support/service.ts';
import { openStory, type Story } from '../../support/story.ts';
import { until } from '../../support/until.ts';
import { ok } from '../../support/words.ts';

// console-reads.md#timeline.
let service: TestService;
let story: Story;

beforeAll(async () => {
  service = await startService();
  story = await openStory(service, '2026-09-01T00:00:00Z');
  await story.metric('calls');
  const { svc_id } = (await ok(story.client.get('/billable_metrics/calls'))).billable_metric;
  await story.plan({
    amount_cents: 0,
    charges: [{ billable_metric_id: svc_id, charge_model: 'standard', properties: { amount: '2' } }],
  });
  await ok(
    story.client.post('/webhook_endpoints', { webhook_endpoint: { webhook_url: 'http://localhost:65000/hooks' } }),
  );
  await story.customer({ external_id: 'ada' });
  await story.customer({ external_id: 'zed' });
  await ok(story.subscribe({ external_customer_id: 'ada', external_id: 'ada-1' }));
  await story.use('calls', {}, { by: 'ada-1', at: '2026-09-01T10:00:00Z' });
  await story.advanceTo('2026-09-03T08:00:00Z');
  const invoice = await story.oneOff(1000, 'ada');
  await ok(story.pay(invoice.svc_id, 1000));
});
afterAll(() => service.stop());

interface Entry {
  at: string;
  kind: string;
  name: string;
  svc_id: string;
  amount_cents: number | null;
  title: string | null;
  path: string | null;
}
const read = async (query = '', customer = 'ada') =>
  (await ok(story.client.get(`/customers/${customer}/timeline?${query}`))) as {
    timeline: Entry[];
    meta: { next_cursor: string | null };
  };

test('a cursor is a text of its row, and leads back to it (CO25)', () => {
  const place = {
    at: Temporal.Instant.from('2026-11-19T06:00:00.000000Z'),
    kind: 'activity' as const,
    id: '0198f0c0-0000-7000-8000-000000000001',
  };
  const text =
    'WzEsInRpbWVsaW5lIiwiMjAyNi0xMS0xOVQwNjowMDowMC4wMDAwMDBaIiwiYWN0aXZpdHkiLCIwMTk4ZjBjMC0wMDAwLTcwMDAtODAwMC0wMDAwMDAwMDAwMDEiXQ';
  expect(cursorOf(place)).toBe(text);
  expect(placeOf(text).at.equals(place.at)).toBe(true);
  expect({ ...placeOf(text), at: 0 }).toEqual({ ...place, at: 0 });
});

test('activities, payments, webhooks and days of usage stand in one list, newest first', async () => {
  const { timeline, meta } = await until(async () => {
    const answer = await read('limit=200');
    return answer.timeline.some(({ kind }) => kind === 'activity') ? answer : undefined;
  });
  expect(meta).toEqual({ next_cursor: null });
  expect(timeline.map(({ at }) => at)).toEqual(
    timeline
      .map(({ at }) => at)
      .toSorted()
      .toReversed(),
  );
  expect([...new Set(timeline.map(({ kind }) => kind))].sort()).toEqual([
    'activity',
    'payment',
    'usage_day',
    'webhook',
  ]);
  expect(timeline.find(({ kind }) => kind === 'payment')).toMatchObject({
    at: '2026-09-03T08:00:00Z',
    name: 'payment.succeeded',
    amount_cents: 1000,
  });
  expect(timeline.filter(({ kind }) => kind === 'usage_day')).toMatchObject([
    { at: '2026-09-01T00:00:00Z', amount_cents: 200, title: '1', path: '/subscriptions/ada-1' },
  ]);
});

test('pages join without a gap, whatever their size', async () => {
  const whole = (await read('limit=200')).timeline.map(({ kind, svc_id }) => `${kind} ${svc_id}`);
  const pages: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const answer = await read(`limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`);
    pages.push(...answer.timeline.map(({ kind, svc_id }) => `${kind} ${svc_id}`));
    cursor = answer.meta.next_cursor;
  }
  expect(pages).toEqual(whole);
});

test('kinds and bounds narrow it, and nothing of another customer is in it', async () => {
  expect((await read('kinds[]=payment')).timeline).toHaveLength(1);
  expect((await read('kinds[]=usage_day&from=2026-09-02')).timeline).toEqual([]);
  expect((await read('kinds[]=usage_day&to=2026-09-02')).timeline).toHaveLength(1);
  expect((await read('kinds[]=payment&kinds[]=usage_day', 'zed')).timeline).toEqual([]);
  const stranger = await service.org();
  expect((await stranger.get('/customers/ada/timeline')).status).toBe(404);
});

test.each([
  ['cursor=nonsense', { cursor: ['value_is_invalid'] }],
  [`cursor=${Buffer.from('[1,"events","x","activity","y"]').toString('base64url')}`, { cursor: ['value_is_invalid'] }],
  ['from=tomorrow', { from: ['invalid_date'] }],
  ['limit=0', { limit: ['value_is_out_of_range'] }],
  ['limit=201', { limit: ['value_is_out_of_range'] }],
  ['kinds[]=gossip', { kinds: ['value_is_invalid'] }],
])('a timeline by %s is refused', async (query, details) => {
  expect((await story.client.get(`/customers/ada/timeline?${query}`)).body.error_details).toEqual(details);
});

test('kinds that the key may not read are left out', async () => {
  const { body } = await story.client.post('/api_keys', {
    api_key: { permissions: { customer: ['read'], payment: ['read'] } },
  });
  const { timeline } = await ok(service.client(body.api_key.value).get('/customers/ada/timeline'));
  expect(timeline.map(({ kind }: Entry) => kind)).toEqual(['payment']);
});

test('a timeline takes six statements, with ten payments and a thousand', async () => {
  const asked = () =>
    countReads(service, (sql) =>
      showCustomerTimeline(
        { ...readingAt(service, sql, story.organizationId, '2026-09-03T08:00:00Z'), holds: () => true },
        { external_id: 'ada' as never, query: CustomerTimelineQuery.parse({}) },
      ),
    );
  expect((await asked()).statements).toHaveLength(6);
  await service.sql`
    insert into payments select (jsonb_populate_record(payment, jsonb_build_object('id', gen_random_uuid()))).*
    from payments payment, generate_series(1, 1000) n where payment.organization_id = ${story.organizationId}`;
  const many = await asked();
  expect(many.statements).toHaveLength(6);
  expect(many.body.timeline).toHaveLength(50);
});
