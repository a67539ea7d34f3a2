import { afterAll, beforeAll, expect, test } from 'vitest';
import { countStatements } from '../../support/count-statements.ts';
import { startService, type TestService } from '../../support/service.ts';
import { openStory, type Story } from '../../support/story.ts';
import { ok } from '../../support/words.ts';

// console-reads.md#customer-names.
let service: TestService;
let story: Story;

beforeAll(async () => {
  service = await startService();
  story = await openStory(service, '2024-05-01T08:00:00Z');
  await story.customer({ external_id: 'ada', name: 'Ada Analytics', legal_name: 'Ada Ltd' });
  await story.customer({ external_id: 'legal', name: '', legal_name: 'Legal Ltd', firstname: 'Lea' });
  await story.customer({ external_id: 'person', name: null, firstname: 'Paul', lastname: 'Person' });
  await story.customer({ external_id: 'nameless', name: null });
});
afterAll(() => service.stop());

const read = (asked: readonly string[], client: Pick<Story['client'], 'get'> = story.client) =>
  client.get(`/customer_names?${asked.map((id) => `external_ids[]=${encodeURIComponent(id)}`).join('&')}`);
const named = async (asked: readonly string[], client?: Pick<Story['client'], 'get'>) =>
  (await ok(read(asked, client))).customer_names.map(({ name }: { name: string }) => name);

test('customers are named by name, legal name, person, or else by their external id, in the order of the ids', async () => {
  expect(await named(['nameless', 'ada', 'none', 'person', 'legal', 'ada'])).toEqual([
    'nameless',
    'Ada Analytics',
    'Paul Person',
    'Legal Ltd',
  ]);
  await ok(story.client.delete('/customers/legal'));
  expect(await named(['legal'])).toEqual([]);
});

test('no ids are an empty answer, and more than a hundred are refused', async () => {
  expect(await named([])).toEqual([]);
  const many = Array.from({ length: 101 }, (_, at) => `c${at}`);
  expect(await named(many.slice(1))).toEqual([]);
  expect((await read(many)).body.error_details).toEqual({ external_ids: ['value_is_out_of_range'] });
});

test('customers of another organization are left out', async () => {
  expect(await named(['ada'], await service.org())).toEqual([]);
});

test('one statement names one customer and four', async () => {
  const asked = (external_ids: string[]) =>
    countStatements(service, story.organizationId, 'findCustomerNames', {
      now: '2024-05-01T08:00:00Z',
      query: { external_ids },
    });
  expect((await asked(['ada'])).statements).toHaveLength(1);
  expect((await asked(['ada', 'person', 'nameless', 'x'])).statements).toHaveLength(1);
});
