import { afterAll, beforeAll, expect, test } from 'vitest';
import { showSearch } from '../../../src/areas/reporting/search/reads.ts';
import { SearchQuery } from '../../../src/areas/reporting/search/schema.ts';
import { countReads, readingAt } from '../../support/count-statements.ts';
import { startService, type TestService } from '../../support/service.ts';
import { openStory, type Story } from '../../support/story.ts';
import { until } from '../../support/until.ts';
import { ok } from '../../support/words.ts';

// console-reads.md#search.
let service: TestService;
let story: Story;

beforeAll(async () => {
  service = await startService();
  story = await openStory(service, '2026-09-01T00:00:00Z');
  for (const [external_id, name] of [
    ['ada', 'Ada Analytics'],
    ['c2', 'Nevada Ltd'],
    ['c3', 'Adam Stone'],
    ['ada-2', 'Zed'],
  ])
    await story.customer({ external_id, name });
  await story.plan({ code: 'starter', name: 'Starter', amount_cents: 0 });
  await story.subscribe({ external_customer_id: 'ada', external_id: 'ada-sub', plan_code: 'starter' });
  await story.metric('calls');
});
afterAll(() => service.stop());

interface Result {
  type: string;
  svc_id: string;
  title: string;
  match: string;
  path: string;
}
const search = async (query: string, client: Pick<Story['client'], 'get'> = story.client) =>
  (await ok(client.get(`/search?${query}`))).search as { query: string; truncated: boolean; results: Result[] };
const found = async (query: string, client?: Pick<Story['client'], 'get'>) =>
  (await search(query, client)).results.map(({ match, path }) => `${match} ${path}`);

test('customers are found exactly, by a prefix, by the start of a word and by a part of it (CO26)', async () => {
  expect(await found('q=ADA&types[]=customer')).toEqual([
    'exact /customers/ada',
    'prefix /customers/ada-2',
    'word /customers/c3',
    'substring /customers/c2',
  ]);
  expect(await found('q=ad&types[]=customer')).toEqual(['prefix /customers/ada-2', 'prefix /customers/ada']);
  expect((await story.client.get('/search?q=%20')).body.error_details).toEqual({ q: ['value_is_mandatory'] });
  const { results, ...rest } = await search('q=%20ADA%20&types[]=customer&limit=1');
  expect(rest).toEqual({ query: 'ADA', truncated: false });
  expect(results).toEqual([
    {
      type: 'customer',
      svc_id: expect.any(String),
      title: 'Ada Analytics',
      subtitle: 'ada',
      match: 'exact',
      path: '/customers/ada',
      created_at: '2026-09-01T00:00:00Z',
    },
  ]);
});

test('records of every kind are found by what people know them by', async () => {
  expect(await found('q=Ada-Sub')).toEqual(['exact /subscriptions/ada-sub']);
  expect(await found('q=STARTER')).toEqual(['exact /plans/starter']);
  expect(await found('q=calls')).toEqual(['exact /billable_metrics/calls']);
  const invoice = await story.oneOff(1000, 'ada');
  expect(await found(`q=${encodeURIComponent(invoice.number)}`)).toEqual([`exact /invoices/${invoice.svc_id}`]);
  expect(await found(`q=${encodeURIComponent(invoice.number.slice(0, -1))}`)).toContain(
    `prefix /invoices/${invoice.svc_id}`,
  );
  await story.use('calls', {}, { by: 'ada-sub', transaction_id: 'Tx 1/2' });
  expect(await found('q=Tx%201/2')).toEqual(['exact /events/Tx%201%2F2']);
  const logged = await story.client.post('/plans', {}, { headers: { 'x-request-id': 'asked-for' } });
  expect(logged.headers['x-request-id']).toBe('asked-for');
  const logs = await until(async () => {
    const rows = await found('q=asked-for');
    return rows.length > 0 && rows;
  });
  expect(logs).toEqual(['exact /api_logs/asked-for']);
});

test('a UUID finds the record with this id, and one that somebody named so', async () => {
  const invoice = await story.oneOff(500, 'ada');
  expect(await found(`q=${invoice.svc_id}`)).toEqual([`exact /invoices/${invoice.svc_id}`]);
  expect(await found(`q=${invoice.svc_id.toUpperCase()}`)).toEqual([`exact /invoices/${invoice.svc_id}`]);
  const named = '0198f0c0-0000-7000-8000-000000000001';
  await story.customer({ external_id: named, name: 'Named' });
  expect(await found(`q=${named}`)).toEqual([`exact /customers/${named}`]);
});

test('signs of patterns stand for themselves, and deleted customers are not found', async () => {
  await story.customer({ external_id: 'odd', name: '100% \\ under_score' });
  expect(await found('q=100%25')).toEqual(['word /customers/odd']);
  expect(await found('q=%25%25%25')).toEqual([]);
  expect(await found('q=r_s')).toEqual(['substring /customers/odd']);
  expect(await found('q=%5C%20u')).toEqual(['word /customers/odd']);
  await ok(story.client.delete('/customers/odd'));
  expect(await found('q=under_score')).toEqual([]);
});

test.each([
  ['q=x&types[]=nothing', { types: ['value_is_invalid'] }],
  [`q=${'x'.repeat(201)}`, { q: ['value_is_too_long'] }],
  ['q=x&limit=0', { limit: ['value_is_out_of_range'] }],
  ['q=x&limit=21', { limit: ['value_is_out_of_range'] }],
  ['', { q: ['value_is_mandatory'] }],
])('a search by %s is refused', async (query, details) => {
  expect((await story.client.get(`/search?${query}`)).body.error_details).toEqual(details);
});

test('a key finds only what it may read (CO27)', async () => {
  const { body } = await story.client.post('/api_keys', { api_key: { permissions: { subscription: ['read'] } } });
  expect(await found('q=ada', service.client(body.api_key.value))).toEqual(['prefix /subscriptions/ada-sub']);
});

test('records of another organization are never found', async () => {
  const stranger = await service.org();
  expect(await found('q=ada', stranger)).toEqual([]);
  const { svc_id } = (await ok(story.client.get('/customers/ada'))).customer;
  expect(await found(`q=${svc_id}`, stranger)).toEqual([]);
});

test('a search takes three statements, with ten customers and a thousand, and says when it has stopped', async () => {
  const asked = (q: string) =>
    countReads(service, (sql) =>
      showSearch(
        { ...readingAt(service, sql, story.organizationId, '2026-09-01T00:00:00Z'), holds: () => true },
        { query: SearchQuery.parse({ q }) },
      ),
    );
  const queries = (statements: readonly string[]) => statements.filter((text) => /^\s*\(?\s*(select|with)/i.test(text));
  const few = await asked('analytics');
  expect(queries(few.statements)).toHaveLength(3);
  await service.sql`
    insert into customers select (jsonb_populate_record(customer, jsonb_build_object(
      'id', gen_random_uuid(), 'external_id', 'copy' || n, 'sequential_id', 1000 + n, 'slug', 'copy' || n))).*
    from customers customer, generate_series(1, 1000) n
    where customer.organization_id = ${story.organizationId} and customer.external_id = 'ada'`;
  const many = await asked('analytics');
  expect(queries(many.statements)).toHaveLength(3);
  expect(many.body.search.truncated).toBe(true);
  expect(many.body.search.results).toHaveLength(5);
  expect((await asked('copy100')).body.search.results[0]).toMatchObject({ match: 'exact', path: '/customers/copy100' });
});
