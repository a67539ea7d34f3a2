import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { operations } from '../../../src/operations.ts';
import { countStatements } from '../../support/count-statements.ts';
import { startService, type TestService } from '../../support/service.ts';
import { openStory, type Story } from '../../support/story.ts';

// Lists that are not counted: lists.md#pages.
let service: TestService;
let story: Story;

beforeAll(async () => {
  service = await startService();
  story = await openStory(service, '2024-05-01T08:00:00Z');
  await story.customer();
});
afterAll(() => service.stop());

const page = async (query: string) => {
  const { body } = await story.client.get(`/invoices?${query}`);
  return { rows: body.invoices.length, meta: body.meta };
};

test('26 invoices, not counted: page 1 of 25 rows knows that one more follows, page 2 has the last one (CO29)', async () => {
  expect(await page('count=none&per_page=25')).toEqual({
    rows: 0,
    meta: { current_page: 0, next_page: null, prev_page: null, total_pages: null, total_count: null },
  });
  for (let made = 0; made < 26; made += 1) await story.oneOff(100);
  const uncounted = { total_pages: null, total_count: null };
  expect(await page('count=none&per_page=25')).toEqual({
    rows: 25,
    meta: { current_page: 1, next_page: 2, prev_page: null, ...uncounted },
  });
  expect(await page('count=none&per_page=25&page=2')).toEqual({
    rows: 1,
    meta: { current_page: 2, next_page: null, prev_page: 1, ...uncounted },
  });
  expect((await page('count=none&per_page=26')).meta.next_page).toBeNull();
  expect((await page('count=all&per_page=25')).meta).toMatchObject({ total_count: 26, next_page: 2 });
});

const lists = operations.filter(
  ({ kind, query, path }) =>
    kind === 'read' && query instanceof z.ZodObject && 'count' in query.shape && !path.includes(':'),
);

test('every list that takes count=none runs one statement less and counts nothing', async () => {
  expect(lists.length).toBe(19);
  const odd: unknown[] = [];
  for (const { name } of lists) {
    const asked = (query: object) =>
      countStatements(service, story.organizationId, name, {
        now: '2024-05-01T08:00:00Z',
        query: { per_page: '5', ...(name === 'findAllSecurityLogs' ? { to_date: '2100-01-01' } : {}), ...query },
      });
    const [counted, uncounted] = [await asked({}), await asked({ count: 'none' })];
    const counts = uncounted.statements.filter((text) => /count\(\*\)/.test(text));
    const less = counted.statements.length - uncounted.statements.length;
    if (less !== 1 || counts.length > 0) odd.push({ name, less, counts });
  }
  expect(odd).toEqual([]);
});

test('a page of events after a place goes on without a count', async () => {
  await story.metric('calls');
  await story.plan({ amount_cents: 0 });
  await story.subscribe();
  for (const at of ['2024-05-01T08:00:01Z', '2024-05-01T08:00:02Z', '2024-05-01T08:00:03Z'])
    await story.use('calls', {}, { at, transaction_id: at });
  const read = async (query: string) => (await story.client.get(`/events?count=none&per_page=2${query}`)).body;
  const first = await read('');
  expect(first.events.map((event: { transaction_id: string }) => event.transaction_id)).toEqual([
    '2024-05-01T08:00:03Z',
    '2024-05-01T08:00:02Z',
  ]);
  const second = await read(`&after=${encodeURIComponent(first.meta.next_cursor)}`);
  expect(second.events.map((event: { transaction_id: string }) => event.transaction_id)).toEqual([
    '2024-05-01T08:00:01Z',
  ]);
  expect(second.meta.next_cursor).toBeUndefined();
});
