import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startService, type TestService } from '../../support/service.ts';
import { openStory, type Story } from '../../support/story.ts';
import { until } from '../../support/until.ts';

const NOW = '2024-05-01T10:00:00Z';
let service: TestService;
let story: Story;
/** Id of a wallet of 1000 cents. */
let wallet: string;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());
beforeEach(async () => {
  story = await openStory(service, NOW);
  await story.customer();
  const made = await story.client.post('/wallets', {
    wallet: { external_customer_id: 'acme', rate_amount: '1', currency: 'USD', granted_credits: '10' },
  });
  wallet = made.body.wallet.svc_id;
  await until(async () => (await shownWallet()).balance_cents === 1000);
});

const shownWallet = async () => (await story.client.get(`/wallets/${wallet}`)).body.wallet;
const holds = (path = '') => `/wallets/${wallet}/holds${path}`;
const hold = (amount_cents: unknown, fields: object = {}) =>
  story.client.post(holds(), { hold: { amount_cents, ...fields } });
const open = async (amount_cents: number, fields: object = {}) => {
  const { status, text, body } = await hold(amount_cents, fields);
  if (status !== 200) throw new Error(text);
  return body.hold as { svc_id: string };
};
const settle = (id: string, given: object) => story.client.post(holds(`/${id}/settle`), { hold: given });
const release = (id: string) => story.client.post(holds(`/${id}/release`));
const insufficient = { status: 422, error_details: { amount_cents: ['insufficient_credits'] } };
const notOpen = { status: 405, code: 'hold_not_open' };

/** What could be held. */
async function available(): Promise<number> {
  const { status, body } = await hold(1_000_000, { allow_partial: true });
  if (status !== 200) return 0;
  await release(body.hold.svc_id);
  return body.hold.amount_cents;
}

async function sellCalls(): Promise<void> {
  const metric = await story.metric('calls', { aggregation_type: 'sum_agg', field_name: 'n' });
  const charge = {
    billable_metric_id: metric.svc_id,
    charge_model: 'standard',
    properties: { amount: '0.01' },
  };
  await story.plan({ amount_cents: 0, charges: [charge] });
  await story.subscribe();
}
const call = (n: number, transaction_id = 't1') => ({
  transaction_id,
  external_subscription_id: 'sub',
  code: 'calls',
  timestamp: Date.parse(NOW) / 1000,
  properties: { n },
});

test('a hold is opened, shown, listed, changed and released, and moves no money', async () => {
  const made = await hold('400', { reference: 'job 1', expires_in_seconds: 60 });
  const { svc_id: id } = made.body.hold;
  expect(made.body.hold).toEqual({
    svc_id: id,
    svc_wallet_id: wallet,
    status: 'open',
    amount_cents: 400,
    settled_amount_cents: null,
    currency: 'USD',
    reference: 'job 1',
    external_subscription_id: null,
    event_transaction_id: null,
    expires_at: '2024-05-01T10:01:00Z',
    created_at: NOW,
    closed_at: null,
  });
  expect((await story.client.get(holds(`/${id}`))).body).toEqual(made.body);
  expect(await available()).toBe(600);
  expect(await shownWallet()).toMatchObject({ balance_cents: 1000, ongoing_balance_cents: 1000 });

  const put = (fields: object) => story.client.put(holds(`/${id}`), { hold: fields });
  expect((await put({ amount_cents: 1000, expires_in_seconds: 120 })).body.hold).toMatchObject({
    amount_cents: 1000,
    expires_at: '2024-05-01T10:02:00Z',
  });
  expect((await put({ amount_cents: 1001 })).body).toMatchObject(insufficient);
  expect((await put({ amount_cents: 300, reference: 'job 1' })).body.hold.amount_cents).toBe(300);
  expect((await put({ reference: 'job 2' })).body.error_details).toEqual({ reference: ['value_is_frozen'] });
  const other = await open(100);

  expect((await release(id)).body.hold).toMatchObject({ status: 'released', closed_at: NOW });
  for (const answer of [await release(id), await put({ amount_cents: 1 }), await settle(id, { amount_cents: 1 })])
    expect(answer.body).toMatchObject(notOpen);
  const ids = async (query: string) => {
    const { body } = await story.client.get(holds(`?${query}`));
    return [body.holds.map((each: { svc_id: string }) => each.svc_id), body.meta.total_count];
  };
  expect((await ids(''))[1]).toBe(3);
  expect(await ids('statuses[]=open')).toEqual([[other.svc_id], 1]);
  expect(await ids('statuses[]=released&statuses[]=open&per_page=1')).toEqual([[other.svc_id], 3]);
  expect((await story.client.get(holds('?statuses[]=lost'))).status).toBe(422);
  const entries = await service.sql`
    select count(distinct transaction_id) as count from ledger_entries where organization_id = ${story.organizationId}`;
  expect(entries[0]!.count).toBe(1);
});

describe('refused holds', () => {
  test.each<[object, object]>([
    [{}, { amount_cents: ['value_is_mandatory'] }],
    [{ amount_cents: 0 }, { amount_cents: ['value_is_out_of_range'] }],
    [{ amount_cents: -5 }, { amount_cents: ['value_is_out_of_range'] }],
    [{ amount_cents: 1.5 }, { amount_cents: ['value_is_invalid'] }],
    [{ amount_cents: 1, expires_in_seconds: 0 }, { expires_in_seconds: ['value_is_out_of_range'] }],
    [{ amount_cents: 1, expires_in_seconds: 86_401 }, { expires_in_seconds: ['value_is_out_of_range'] }],
    [{ amount_cents: 1, reference: 'x'.repeat(256) }, { reference: ['value_is_too_long'] }],
    [{ amount_cents: 1001 }, { amount_cents: ['insufficient_credits'] }],
  ])('a hold with %j is refused', async (fields, details) => {
    const body = { reference: 'r', ...fields };
    expect((await story.client.post(holds(), { hold: body })).body.error_details).toEqual(details);
  });

  test('a hold on unknown records, in other organizations or on ended wallets is refused', async () => {
    const { svc_id: id } = await open(100);
    const other = await service.org();
    for (const client of [other]) {
      expect((await client.get(holds())).body.resource).toBe('wallet');
      expect((await client.get(holds(`/${id}`))).body.resource).toBe('wallet');
      expect((await client.post(holds(`/${id}/release`))).body.resource).toBe('wallet');
      expect((await client.post(holds(), { hold: { amount_cents: 1 } })).body.resource).toBe('wallet');
    }
    for (const unknown of ['x', '00000000-0000-7000-8000-000000000000'])
      expect((await story.client.get(holds(`/${unknown}`))).body.resource).toBe('wallet_hold');
    expect((await hold(1, { external_subscription_id: 'none' })).body.resource).toBe('subscription');
    expect((await settle(id, {})).status).toBe(400);
    expect((await settle(id, { event: null })).body.error_details).toEqual({ amount_cents: ['value_is_mandatory'] });
    expect((await settle(id, { event: {}, amount_cents: 1 })).body.error_details).toEqual({
      amount_cents: ['value_must_be_blank'],
    });
    await story.client.delete(`/wallets/${wallet}`);
    expect((await hold(1)).body).toMatchObject({ status: 405, code: 'wallet_not_active' });
    expect((await release(id)).body.hold.status).toBe('released');
  });
});

// wallet-holds.md, AC4.
test('of 20 holds of 100 at the same time on a wallet of 1000 ten are opened', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => hold(100)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(10);
  for (const { status, body } of answers) if (status !== 200) expect(body).toMatchObject(insufficient);
  expect(await available()).toBe(0);
});

test('50 holds of all sizes opened, released and settled at the same time never hold more than there is', async () => {
  const sizes = Array.from({ length: 50 }, (_, n) => 30 + 7 * n);
  const answers = await Promise.all(sizes.map((size) => hold(size)));
  const opened = answers.flatMap(({ status, body }) => (status === 200 ? [body.hold] : []));
  const sum = opened.reduce((total, { amount_cents }) => total + amount_cents, 0);
  expect(sum).toBeLessThanOrEqual(1000);
  // Whatever was refused did not fit beside those that were opened before it.
  expect(sum + Math.max(...sizes)).toBeGreaterThan(1000);
  for (const { status, body } of answers) if (status !== 200) expect(body).toMatchObject(insufficient);
  expect(await available()).toBe(1000 - sum);
  const ends = await Promise.all(
    opened.flatMap(({ svc_id }) => [release(svc_id), settle(svc_id, { amount_cents: 1 }), release(svc_id)]),
  );
  // Of three ends of a hold one is its end.
  expect(ends.filter(({ status }) => status === 200)).toHaveLength(opened.length);
  for (const { status, body } of ends) if (status !== 200) expect(body).toMatchObject(notOpen);
  expect(await available()).toBe(1000);
});

test('a prolonged hold keeps counting, and one that ended can be neither settled, released, changed nor prolonged', async () => {
  const ending = await open(300, { expires_in_seconds: 60 });
  const prolonged = await open(200, { expires_in_seconds: 60 });
  await story.advanceTo('2024-05-01T10:00:59Z');
  const put = (id: string, fields: object) => story.client.put(holds(`/${id}`), { hold: fields });
  expect((await put(prolonged.svc_id, { expires_in_seconds: 60 })).body.hold.expires_at).toBe('2024-05-01T10:01:59Z');
  expect(await available()).toBe(500);
  await story.advanceTo('2024-05-01T10:01:00Z');
  expect(await available()).toBe(800);
  for (const answer of [
    await settle(ending.svc_id, { amount_cents: 300 }),
    await settle(ending.svc_id, { event: call(300) }),
    await release(ending.svc_id),
    await release(ending.svc_id),
    await put(ending.svc_id, { expires_in_seconds: 600 }),
    await put(ending.svc_id, { amount_cents: 1 }),
  ])
    expect(answer.body).toMatchObject(notOpen);
  expect((await story.client.get('/events/t1')).status).toBe(404);
  expect((await settle(prolonged.svc_id, { amount_cents: 250 })).body.hold).toMatchObject({
    status: 'settled',
    settled_amount_cents: 250,
    closed_at: '2024-05-01T10:01:00Z',
  });
  await story.advanceTo('2024-05-01T11:00:00Z');
  expect((await settle(prolonged.svc_id, { amount_cents: 250 })).body.hold.status).toBe('settled');
  expect(await available()).toBe(1000);
});

test('50 attempts at the same time with one key open one hold and settle it once', async () => {
  const headers = { 'Idempotency-Key': 'once' };
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => story.client.post(holds(), { hold: { amount_cents: 100 } }, { headers })),
  );
  expect(new Set(answers.map(({ status, body }) => `${status} ${body.hold?.svc_id}`)).size).toBe(1);
  const { svc_id: id } = answers[0]!.body.hold;
  const settled = await Promise.all(Array.from({ length: 20 }, () => settle(id, { amount_cents: 70 })));
  expect(new Set(settled.map(({ text }) => text)).size).toBe(1);
  expect(settled[0]!.body.hold).toMatchObject({ status: 'settled', settled_amount_cents: 70, closed_at: NOW });
  expect((await settle(id, { amount_cents: 71 })).body).toMatchObject(notOpen);
  expect(await available()).toBe(1000);
});

// wallet-holds.md, AC5.
test('a hold settled with an event counts until the ongoing balance contains the event', async () => {
  await sellCalls();
  const { svc_id: id } = await open(400, { external_subscription_id: 'sub' });
  expect(await available()).toBe(600);
  const settled = await settle(id, { event: call(150) });
  expect(settled.body.hold).toMatchObject({
    status: 'settled',
    amount_cents: 400,
    settled_amount_cents: 150,
    external_subscription_id: 'sub',
    event_transaction_id: 't1',
  });
  expect((await story.client.get('/events/t1')).body.event.properties).toEqual({ n: 150 });
  expect((await settle(id, { event: call(150) })).body).toEqual(settled.body);
  expect((await settle(id, { event: call(151) })).body).toMatchObject(notOpen);
  expect(await available()).toBe(600);
  await story.advanceTo('2024-05-01T10:20:00Z');
  expect((await shownWallet()).ongoing_balance_cents).toBe(850);
  expect(await available()).toBe(850);
});

test('a refused event leaves the hold open, and a repeated one settles it', async () => {
  await sellCalls();
  await story.client.post('/events', { event: call(10) });
  const { svc_id: id } = await open(400, { external_subscription_id: 'sub' });
  expect((await settle(id, { event: call(11) })).body.error_details).toEqual({
    transaction_id: ['value_already_exist'],
  });
  expect((await settle(id, { event: { code: 'calls' } })).body.error_details).toEqual({
    transaction_id: ['value_is_mandatory'],
  });
  expect((await settle(id, { event: { ...call(1, 't2'), external_subscription_id: 'b' } })).body.error_details).toEqual(
    {
      external_subscription_id: ['value_is_invalid'],
    },
  );
  expect((await story.client.get(holds(`/${id}`))).body.hold.status).toBe('open');
  const settled = await settle(id, { event: call(10) });
  expect(settled.body.hold).toMatchObject({ status: 'settled', settled_amount_cents: null });
  expect((await story.client.get('/events')).body.meta.total_count).toBe(1);
});

// wallet-holds.md, AC6.
test('an expired hold stops counting by the clock, is marked once and announced', async () => {
  await story.client.post('/webhook_endpoints', {
    webhook_endpoint: { webhook_url: 'https://hooks.example.com/holds', event_types: ['wallet_hold.expired'] },
  });
  const { svc_id: id } = await open(400, { expires_in_seconds: 90 });
  await story.advanceTo('2024-05-01T10:05:00Z');
  expect((await story.client.get(holds(`/${id}`))).body.hold).toMatchObject({
    status: 'expired',
    closed_at: '2024-05-01T10:01:30Z',
  });
  expect(await available()).toBe(1000);
  expect((await settle(id, { amount_cents: 1 })).body).toMatchObject(notOpen);
  const told = await service.sql<{ payload: string }[]>`
    select payload from webhook_events
    where organization_id = ${story.organizationId} and webhook_type = 'wallet_hold.expired'`;
  expect(told.map(({ payload }) => JSON.parse(payload))).toMatchObject([
    { object_type: 'wallet_hold', wallet_hold: { svc_id: id, status: 'expired', amount_cents: 400 } },
  ]);
  const [row] = await service.sql`select status, closed_at::text from wallet_holds where id = ${id}`;
  expect(row).toMatchObject({ status: 'expired', closed_at: expect.stringContaining('10:01:30') });
});

test('an expired hold does not count even before a job marks it', async () => {
  const { svc_id: id } = await open(400, { expires_in_seconds: 90 });
  await service.sql`update wallet_holds set expires_at = ${NOW} where id = ${id}`;
  expect(await available()).toBe(1000);
  expect((await story.client.get(holds(`/${id}`))).body.hold).toMatchObject({ status: 'expired', closed_at: NOW });
  expect((await release(id)).body).toMatchObject(notOpen);
  expect((await story.client.get(holds('?statuses[]=expired'))).body.meta.total_count).toBe(1);
});
