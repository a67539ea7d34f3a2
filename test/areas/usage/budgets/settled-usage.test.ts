import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { ok } from '../../../support/words.ts';
import { budget, decide, figures, type Org, subscribe } from './words.ts';

let service: TestService;
let org: Org;

beforeAll(async () => {
  service = await startService({ settings: { RATE_LIMIT_BUDGETS: '100000' } });
});
afterAll(() => service.stop());
beforeEach(async () => {
  org = await service.org();
  await subscribe(org);
  await budget(org, 'tokens', '100000', { measure: 'tokens', currency: undefined });
});

const MARK = 'a prompt that nobody may keep';
/** An answer of a provider with 110 tokens, and its content. */
const answer = (id: string, output = 10) => ({
  id,
  model: 'alpha',
  choices: [{ message: { content: MARK } }],
  usage: { prompt_tokens: 100, completion_tokens: output, total_tokens: 100 + output },
});
const usage = (id: string, fields: object = {}) => ({ body: answer(id), ...fields });
const hold = (key: string, tokens = '4000') => ok(decide(org, { hold_key: key, tokens }));
const send = (ai_usage: object, options = {}) => org.post('/ai/usage', { ai_usage }, options);
const statusOf = async (key: string) => (await org.get(`/budget_holds/key:${key}`)).body.hold.status;
const sources = async (code: string) =>
  (await org.get(`/budgets/${code}/entries`)).body.entries.map(
    ({ source, amount, event_transaction_id: id }: Record<string, string>) => [source, amount, id].join(' '),
  );

test('a decision settles by what a provider reported, for the subscription of the hold', async () => {
  await hold('a');
  const { decision } = await ok(
    decide(org, { hold_key: 'b', tokens: '1000', settle: [{ hold_key: 'a', usage: usage('c1') }] }),
  );
  expect(decision).toMatchObject({
    allowed: true,
    settled: [{ hold_key: 'a', status: 'settled', event: { transaction_id: 'openai:c1', replayed: false } }],
  });
  expect(await figures(org, 'tokens')).toBe('100000.0 110.0 1000.0 open');
  expect(await sources('tokens')).toEqual(['settlement 110.0 openai:c1']);
  const { event } = await ok(org.get('/events/openai:c1'));
  expect(event).toMatchObject({ external_subscription_id: 'ada-1', properties: { tokens: '110', model: 'alpha' } });
});

test('one hold is settled by usage, and the same settlement again changes nothing', async () => {
  await hold('a');
  const settle = (sent: object) => org.post('/budget_holds/key:a/settle', { hold: { usage: sent } });
  expect((await settle(usage('c1', { hold_key: 'a' }))).body.error_details).toEqual({
    hold_key: ['value_must_be_blank'],
  });
  expect((await settle({ body: {} })).status).toBe(422);
  expect(await statusOf('a')).toBe('open');
  for (const _ of [1, 2]) {
    const { hold: settled } = await ok(settle(usage('c1')));
    expect(settled).toMatchObject({ status: 'settled', event_transaction_id: 'openai:c1' });
  }
  expect((await settle(usage('c2'))).status).toBe(405);
  expect(await figures(org, 'tokens')).toBe('100000.0 110.0 0.0 open');
});

test('a call that names its hold settles it and is answered as any call', async () => {
  const { decision } = await hold('a');
  const first = await send(usage('c1', { hold_key: 'a' }));
  expect(first.status).toBe(200);
  expect(first.body).toMatchObject({
    event: { transaction_id: 'openai:c1', external_subscription_id: 'ada-1', properties: { tokens: '110' } },
    ai_usage: { transaction_id: 'openai:c1', tokens: 110 },
  });
  const again = await send(usage('c1', { svc_hold_id: decision.svc_hold_id }));
  expect([again.status, again.headers['x-svc-replayed'], again.body]).toEqual([200, 'true', first.body]);
  expect(await figures(org, 'tokens')).toBe('100000.0 110.0 0.0 open');
  expect(await statusOf('a')).toBe('settled');
});

test('an Idempotency-Key settles in the transaction of its command, once', async () => {
  await hold('a');
  const options = { headers: { 'Idempotency-Key': 'once' } };
  const first = await send(usage('c1', { hold_key: 'a' }), options);
  expect((await send(usage('c1', { hold_key: 'a' }), options)).body).toEqual(first.body);
  expect(await figures(org, 'tokens')).toBe('100000.0 110.0 0.0 open');
  expect(await sources('tokens')).toEqual(['settlement 110.0 openai:c1']);
});

test.each([
  ['an unknown key', { hold_key: 'nobody' }, { hold_key: ['value_is_invalid'] }],
  ['an unknown id', { svc_hold_id: '0190c0de-0000-7000-8000-000000000000' }, { svc_hold_id: ['value_is_invalid'] }],
  ['an id that is none', { svc_hold_id: 'x' }, { svc_hold_id: ['value_is_invalid'] }],
  ['a key that is none', { hold_key: 7 }, { hold_key: ['value_is_invalid'] }],
  [
    'another subscription',
    { hold_key: 'a', external_subscription_id: 'other' },
    { external_subscription_id: ['value_is_invalid'] },
  ],
  ['neither a hold nor a subscription', {}, { external_subscription_id: ['value_is_mandatory'] }],
])('a call with %s is refused, and stored nowhere', async (_, fields, details) => {
  await hold('a');
  const { status, body } = await send(usage('c1', fields));
  expect([status, body.error_details]).toEqual([422, details]);
  expect((await org.get('/events/openai:c1')).status).toBe(404);
  expect(await statusOf('a')).toBe('open');
});

test('another call for a settled hold is refused, and stored nowhere', async () => {
  await hold('a');
  await ok(send(usage('c1', { hold_key: 'a' })));
  const { status, body } = await send(usage('c2', { hold_key: 'a' }));
  expect([status, body.error_details]).toEqual([422, { hold_key: ['hold_not_open'] }]);
  expect((await org.get('/events/openai:c2')).status).toBe(404);
});

test('a batch settles all of its holds or none, and counts what names none as any usage', async () => {
  await hold('a');
  await hold('b');
  const calls = [
    usage('c1', { hold_key: 'a' }),
    usage('c2', { hold_key: 'b' }),
    usage('c3', { external_subscription_id: 'ada-1' }),
  ];
  const wrong = await org.post('/ai/usage/batch', { ai_usages: [...calls, usage('c4', { hold_key: 'nobody' })] });
  expect([wrong.status, wrong.body.error_details]).toEqual([422, { 3: { hold_key: ['value_is_invalid'] } }]);
  expect(await figures(org, 'tokens')).toBe('100000.0 0.0 8000.0 open');
  const { events } = await ok(org.post('/ai/usage/batch', { ai_usages: calls }));
  expect(events).toHaveLength(3);
  expect(await figures(org, 'tokens')).toBe('100000.0 330.0 0.0 open');
  expect((await sources('tokens')).sort()).toEqual([
    'settlement 110.0 openai:c1',
    'settlement 110.0 openai:c2',
    'usage 110.0 ',
  ]);
});

test('of a tolerant batch each call settles for itself', async () => {
  const keys = Array.from({ length: 25 }, (_, index) => `k${index}`);
  await Promise.all(keys.map((key) => hold(key, '100')));
  const calls = keys.map((key, index) => usage(`c${index}`, { hold_key: key }));
  const { results, counts } = await ok(
    org.post('/ai/usage/batch?mode=tolerant', { ai_usages: [...calls, usage('x', { hold_key: 'nobody' })] }),
  );
  expect(counts).toEqual({ stored: 25, replayed: 0, rejected: 1, ignored: 0 });
  expect(results.at(-1)).toMatchObject({ status: 'rejected', error_details: { hold_key: ['value_is_invalid'] } });
  expect(await figures(org, 'tokens')).toBe('100000.0 2750.0 0.0 open');
});

test('a call of parts settles its hold by their sum', async () => {
  await hold('a');
  const { events } = await ok(send(usage('c1', { hold_key: 'a', emit: 'kinds' })));
  expect(events.map((each: { transaction_id: string }) => each.transaction_id).sort()).toEqual([
    'openai:c1#input',
    'openai:c1#output',
  ]);
  expect(await figures(org, 'tokens')).toBe('100000.0 110.0 0.0 open');
  expect(await sources('tokens')).toEqual(['settlement 110.0 openai:c1']);
});

test('a call that came before frees its hold and counts once (BU19, by tokens)', async () => {
  await hold('a');
  await ok(send(usage('c1', { external_subscription_id: 'ada-1' })));
  const { decision } = await ok(decide(org, { settle: [{ hold_key: 'a', usage: usage('c1') }] }));
  expect(decision.settled).toMatchObject([{ status: 'settled', event: { replayed: true } }]);
  expect(await figures(org, 'tokens')).toBe('100000.0 110.0 0.0 open');
  expect(await sources('tokens')).toEqual(['usage 110.0 ']);
});

test('without a price what was held stays counted (BU14, before the price is known)', async () => {
  await budget(org, 'month', '100');
  await ok(decide(org, { hold_key: 'a', amount: '8', tokens: '200' }));
  await ok(send({ ...usage('c1', { hold_key: 'a' }), body: { ...answer('c1'), model: 'nobody-knows' } }));
  expect(await figures(org, 'month')).toBe('100.0 8.0 0.0 open');
  expect(await sources('month')).toEqual(['provisional 8.0 openai:c1']);
  expect(await figures(org, 'tokens')).toBe('100000.0 110.0 0.0 open');
});

test('nothing of a prompt is kept, whatever door it came to (P9)', async () => {
  for (const key of ['a', 'b', 'c']) await hold(key);
  await ok(send(usage('c1', { hold_key: 'a' })));
  await ok(org.post('/budget_holds/key:b/settle', { hold: { usage: usage('c2') } }));
  await ok(decide(org, { settle: [{ hold_key: 'c', usage: usage('c3') }] }));
  const tables = await service.sql<{ name: string }[]>`
    select c.relname as name from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`;
  const found: string[] = [];
  for (const { name } of tables) {
    const [row] = await service.sql`
      select count(*)::int as rows from ${service.sql(name)} kept where kept::text like ${`%${MARK}%`}`;
    if (row!.rows > 0) found.push(name);
  }
  expect(found).toEqual([]);
});
