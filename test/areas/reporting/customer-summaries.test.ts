import { afterAll, beforeAll, expect, test } from 'vitest';
import { countStatements } from '../../support/count-statements.ts';
import { startService, type TestService } from '../../support/service.ts';
import { openStory, type Story } from '../../support/story.ts';
import { ok } from '../../support/words.ts';

// console-reads.md#customer-summaries.
let service: TestService;
let story: Story;
let ids: string[];

beforeAll(async () => {
  service = await startService();
  story = await openStory(service, '2024-05-01T08:00:00Z');
  await story.metric('calls');
  await story.plan({ amount_cents: 0 });
  ids = [];
  for (const external_id of ['ada', 'zed']) ids.push((await story.customer({ external_id })).svc_id);
  await story.subscribe({ external_customer_id: 'ada', external_id: 'ada-1' });
  await story.use('calls', {}, { by: 'ada-1' });
  const invoice = await story.oneOff(1000, 'ada');
  await story.oneOff(250, 'ada');
  await ok(story.pay(invoice.svc_id, 400));
});
afterAll(() => service.stop());

const read = (asked: readonly string[]) =>
  story.client.get(`/customer_summaries?${asked.map((id) => `svc_ids[]=${id}`).join('&')}`);

test('summaries show what customers owe and their last event, in the order of the ids', async () => {
  const [ada, zed] = ids as [string, string];
  const owes = (overdue_amount_cents: number) => ({ currency: 'USD', due_amount_cents: 850, overdue_amount_cents });
  const of = (overdue: number) => [
    { svc_id: zed, external_id: 'zed', currencies: [], last_event_on: null },
    { svc_id: ada, external_id: 'ada', currencies: [owes(overdue)], last_event_on: '2024-05-01' },
  ];
  expect((await read([zed, ada, 'none', zed])).body).toEqual({ customer_summaries: of(0) });
  await story.advanceTo('2024-06-05T08:00:00Z');
  expect((await read([zed, ada])).body).toEqual({ customer_summaries: of(850) });
});

test('no ids are an empty answer, and more than a hundred are refused', async () => {
  expect((await read([])).body).toEqual({ customer_summaries: [] });
  const many = Array.from({ length: 101 }, (_, at) => `0198f0c0-0000-7000-8000-${String(at).padStart(12, '0')}`);
  expect((await read(many.slice(1))).body).toEqual({ customer_summaries: [] });
  expect((await read(many)).body.error_details).toEqual({ svc_ids: ['value_is_out_of_range'] });
});

test('customers of another organization are left out', async () => {
  const stranger = await service.org();
  const { body } = await stranger.get(`/customer_summaries?svc_ids[]=${ids[0]}`);
  expect(body).toEqual({ customer_summaries: [] });
});

test('ten customers and a thousand are summed in three statements', async () => {
  const [ada] = ids;
  const asked = (svc_ids: string[]) =>
    countStatements(service, story.organizationId, 'findCustomerSummaries', {
      now: '2024-06-05T08:00:00Z',
      query: { svc_ids },
    });
  expect((await asked([ada!])).statements).toHaveLength(3);
  await service.sql`
    insert into customers select (jsonb_populate_record(customer, jsonb_build_object(
      'id', gen_random_uuid(), 'external_id', 'copy' || n, 'sequential_id', 1000 + n, 'slug', 'copy' || n))).*
    from customers customer, generate_series(1, 1000) n where customer.id = ${ada!}`;
  const copies = await service.sql<{ id: string }[]>`
    select id from customers where external_id like 'copy%' order by sequential_id limit 100`;
  const many = await asked(copies.map(({ id }) => id));
  expect(many.statements).toHaveLength(3);
  expect(many.body.customer_summaries).toHaveLength(100);
});
