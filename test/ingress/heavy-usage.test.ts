import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Client } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';
import { openStory } from '../support/story.ts';
import { until } from '../support/until.ts';
import { ok, type Words, wordsOf } from '../support/words.ts';

// everywhere.md#bounded-cost, over HTTP: of usage of a large plan one read is computed, twenty wait, the others are
// refused.
const CHARGES = 101;
const USAGE = '/customers/acme/current_usage?external_subscription_id=';

let service: TestService;
let client: Client;
let words: Words;

beforeAll(async () => {
  service = await startService();
  client = await service.org();
  words = wordsOf(client);
  const { svc_id: billable_metric_id } = await words.metric('m');
  const charge = { billable_metric_id, charge_model: 'standard', properties: { amount: '1' } };
  await words.customer();
  for (const [code, charges] of [
    ['large', CHARGES],
    ['small', 1],
  ] as const) {
    await words.plan({ code, amount_cents: 0, charges: Array.from({ length: charges }, () => charge) });
    await ok(words.subscribe({ external_id: code, plan_code: code }));
  }
}, 60_000);
afterAll(() => service.stop());

test('heavy reads beyond one running and twenty waiting are refused with Retry-After; small ones and the first are answered', async () => {
  for (const subscription of ['large', 'small']) expect((await client.get(USAGE + subscription)).status).toBe(200);
  const refused: unknown[] = [];
  let reads: Promise<number>[] = [];
  await service.sql.begin(async (tx) => {
    // Taxes are read after the read was admitted, and by no write of this test: the first stays there.
    await tx`lock table charge_taxes in access exclusive mode`;
    reads = Array.from({ length: 30 }, async (_, n) => {
      const { status, headers } = await client.get(`${USAGE}large&another=${n}`); // the same ones share an answer
      if (status === 503) refused.push(headers['retry-after']);
      return status;
    });
    await until(async () => refused.length >= 9);
    expect(refused).toEqual(Array.from({ length: 9 }, () => '1'));
    expect((await client.get(`${USAGE}small&apply_taxes=false`)).status).toBe(200);
  });
  expect(await Promise.all(reads)).toContain(200);
}, 60_000);

test('the same read is computed once for all who ask while it waits, and shows what was accepted before the last', async () => {
  const shown = async () => {
    const { status, body } = await client.get(`${USAGE}large`);
    return [status, body.customer_usage?.charges_usage[0].events_count];
  };
  expect(await shown()).toEqual([200, 0]);
  const reads: Promise<unknown>[] = [];
  await service.sql.begin(async (tx) => {
    await tx`lock table charge_taxes in access exclusive mode`;
    reads.push(shown());
    await until(async () => (await waitingForTaxes()) > 0);
    reads.push(...Array.from({ length: 10 }, shown));
    await words.use('m', {}, { by: 'large' });
    reads.push(...Array.from({ length: 10 }, shown));
    await ok(client.get(`${USAGE}small&apply_taxes=false`)); // it was asked for after all of these
  });
  expect((await Promise.all(reads)).slice(1)).toEqual(Array.from({ length: 20 }, () => [200, 1]));
}, 60_000);

test('past usage of many fees waits in the same line, and says so when the line is full', async () => {
  const story = await openStory(service, '2024-03-15T08:00:00Z');
  const metric = await story.metric('calls');
  const charge = { billable_metric_id: metric.svc_id, charge_model: 'standard', properties: { amount: '1' } };
  await story.customer();
  for (const [code, charges] of [
    ['large', CHARGES],
    ['small', 1],
  ] as const) {
    await story.plan({ code, amount_cents: 0, charges: Array.from({ length: charges }, () => charge) });
    await story.subscribe({ plan_code: code, external_id: code });
    await story.use('calls', {}, { by: code });
  }
  await story.advanceTo('2024-04-02T00:00:00Z');
  await story.invoices(1);
  const past = (subscription: string, perPage = 20) =>
    story.client.get(`/customers/acme/past_usage?external_subscription_id=${subscription}&per_page=${perPage}`);
  const { body } = await past('large');
  expect(body.usage_periods[0].charges_usage).toHaveLength(CHARGES);

  const refused: number[] = [];
  let reads: Promise<number>[] = [];
  await service.sql.begin(async (tx) => {
    await tx`lock table charge_taxes in access exclusive mode`; // a read of usage keeps the place
    const first = story.client.get('/customers/acme/current_usage?external_subscription_id=large');
    await until(async () => (await waitingForTaxes()) > 0);
    reads = Array.from({ length: 22 }, async (_, n) => {
      const { status } = await past('large', n + 1);
      if (status !== 200) refused.push(status);
      return status;
    });
    await until(async () => refused.length >= 2);
    expect(new Set(refused)).toEqual(new Set([503]));
    expect((await past('small')).status).toBe(200);
    reads.push(first.then(({ status }) => status));
  });
  expect((await Promise.all(reads)).filter((status) => status === 200).length).toBeGreaterThan(0);
}, 120_000);

test('the portal page of a customer with large plans waits in the same line and says so when it is full', async () => {
  const { portal_url: url } = (await client.get('/customers/acme/portal_url')).body.customer;
  const page = () => fetch(url.replace(/^https?:\/\/[^/]+/, service.url));
  expect((await page()).status).toBe(200);
  const refused: number[] = [];
  let visits: Promise<number>[] = [];
  await service.sql.begin(async (tx) => {
    await tx`lock table charge_taxes in access exclusive mode`; // a read of usage keeps the place
    const read = client.get(`${USAGE}large`);
    await until(async () => (await waitingForTaxes()) > 0);
    visits = Array.from({ length: 22 }, async () => {
      const { status } = await page();
      if (status !== 200) refused.push(status);
      return status;
    });
    // Beyond twenty, and what has waited five seconds; some come too fast for one customer.
    await until(async () => refused.filter((status) => status === 503).length >= 2);
    expect(refused.filter((status) => status !== 503 && status !== 429)).toEqual([]);
    visits.push(read.then(({ status }) => status));
  });
  expect((await Promise.all(visits)).filter((status) => status === 200).length).toBeGreaterThan(0);
}, 60_000);

const waitingForTaxes = async () => {
  const [row] = await service.sql<{ count: number }[]>`
    select count(*)::int from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  return row!.count;
};
