import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { operations } from '../../src/operations.ts';
import type { Operation } from '../../src/platform/operation.ts';
import { withOperations } from '../support/added-operations.ts';
import { startService, type TestService } from '../support/service.ts';

const LONG = 'x'.repeat(1024 * 1024);
let title = 'first';

const book = { permission: 'customer', summary: 'A book', tag: 'books', answer: z.object({}) } as const;
const shown = (code: string) => ({ book: { svc_id: 'id', code, title, text: LONG } });
const books: Operation[] = [
  { ...book, name: 'makeBook', method: 'post', path: '/books', kind: 'command', run: async () => shown('b1') },
  {
    ...book,
    name: 'findBook',
    method: 'get',
    path: '/books/:code',
    kind: 'read',
    run: async (_ctx, { code }) => shown(code),
  },
];

let service: TestService;

withOperations(...books);
beforeAll(async () => {
  service = await startService({ operations: [...operations, ...books], pools: ['writes'] });
});
afterAll(() => service.stop());

const keyed = { headers: { 'idempotency-key': 'k' } };

test('a large answer is stored as a reference to its record and shows the record as it is later', async () => {
  const client = await service.org();
  const first = await client.post('/books', {}, keyed);
  expect(first.body.book.title).toBe('first');
  const [row] = await service.sql`
    select body, is_digest from idempotency_keys where organization_id = ${client.organization.organization_id}`;
  expect(row).toEqual({ body: '{"root":"book","params":{"code":"b1"}}', is_digest: true });
  title = 'second';
  const again = await client.post('/books', {}, keyed);
  expect(again.headers['x-svc-replayed']).toBe('true');
  expect(again.body).toEqual({ book: { ...first.body.book, title: 'second' } });
});

test('a replayed answer to a large batch reads its events again', async () => {
  const client = await service.org();
  const events = ['a', 'b', 'c'].map((id) => ({
    transaction_id: id,
    external_subscription_id: 's',
    code: 'c',
    properties: { text: LONG.slice(0, 400_000), n: id },
  }));
  const send = () => client.post('/events/batch?mode=tolerant', { events }, keyed);
  const first = await send();
  expect(first.body.counts.stored).toBe(3);
  const [row] = await service.sql<{ size: number }[]>`
    select length(body) as size from idempotency_keys where organization_id = ${client.organization.organization_id}`;
  expect(row!.size).toBeLessThan(1000);
  const again = await send();
  expect(again.headers['x-svc-replayed']).toBe('true');
  expect(again.body).toEqual(first.body);
});
