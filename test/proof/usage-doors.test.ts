import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { newId } from '../../src/platform/ids.ts';
import { createClient } from '../support/client.ts';
import { inLongRun } from '../support/long-run.ts';
import { until } from '../support/until.ts';
import { ok } from '../support/words.ts';
import { openStand, type Stand } from './budgets/stand.ts';

// What is struck while usage of models and a file of prices are sent: nothing is lost, nothing counts twice. Rules:
// docs/rules/ai-usage.md#input, price-book.md#imports.
let stand: Stand;

beforeAll(async () => {
  stand = await openStand(2);
}, 600_000);
afterAll(() => stand?.stop(), 60_000);
beforeEach(() => stand.ready(), 120_000);

const ANSWERED_WITHIN_MS = 90_000;
const FINISHED_WITHIN_MS = 180_000;

/** Sends the same body until it is answered with 200, as a careful sender does; answers that body. */
const insist = (path: string, body: object) => {
  let turn = 0;
  return until(
    async () => {
      const url = stand.urls[turn++ % stand.urls.length]!;
      const answer = await createClient(url, stand.organization.api_key)
        .post(path, body)
        .catch(() => undefined); // the door was killed
      if (answer && answer.status >= 400 && answer.status < 500 && answer.status !== 429)
        throw new Error(`${path} is refused: ${answer.text}`);
      return answer?.status === 200 ? answer : undefined;
    },
    ANSWERED_WITHIN_MS,
    50,
  );
};

const SENDERS = 6;
const CALLS = 20;
/** 1 000 tokens at 2.5 for a million and 200 at 10, in cents. */
const CENTS = '0.45';

test('every call that is answered is stored and summed once, whatever is killed, emptied or restored', {
  timeout: 600_000,
}, async () => {
  const client = createClient(stand.urls[0]!, stand.organization.api_key);
  const price = { provider: 'openai', model: 'struck', valid_from: '2020-01-01T00:00:00Z' };
  const entries = [
    { ...price, kind: 'input', cost: '2.5' },
    { ...price, kind: 'output', cost: '10' },
  ];
  await ok(client.post('/price_book/entries', { entries }));
  let isOver = false;
  let sent = 0;
  const sender = async () => {
    while (!isOver) {
      const ai_usages = Array.from({ length: CALLS }, () => ({
        external_subscription_id: 'struck-1',
        body: { id: newId(), object: 'chat.completion', model: 'struck', usage },
      }));
      await insist('/ai/usage/batch', { ai_usages });
      sent += CALLS;
    }
  };
  const usage = { prompt_tokens: 1000, completion_tokens: 200, total_tokens: 1200 };
  const senders = Promise.all(Array.from({ length: SENDERS }, sender));
  const pauseMs = inLongRun(5000, 1000);
  await stand.keepRedis();
  const strikes = [
    ...stand.processes.filter(({ name }) => !name.startsWith('budgets')).map(({ kill }) => kill),
    stand.killPool('aggregation'),
    stand.flushRedis,
    stand.cutConnections,
    stand.restoreRedis,
  ];
  for (const strike of strikes) {
    await sleep(pauseMs);
    await strike();
  }
  await sleep(pauseMs);
  isOver = true;
  await senders;
  await stand.ready();
  const finished = () => stand.sql`select from event_batches`.then(({ length }) => length === 0);
  await until(finished, FINISHED_WITHIN_MS, 200);
  const id = stand.organization.organization_id;
  const [stored] = await stand.sql`
    select count(*)::int as calls, trim_scale(sum(precise_total_amount_cents))::text as cents,
      count(distinct transaction_id)::int as names
    from events where organization_id = ${id} and external_subscription_id = 'struck-1'`;
  const [summed] = await stand.sql`
    select sum(events)::int as calls, trim_scale(sum(amount))::text as cents
    from ai_usage_hours where organization_id = ${id} and external_subscription_id = 'struck-1'`;
  expect(sent).toBeGreaterThan(0);
  const cents = String((sent * Number(CENTS.slice(2))) / 100); // whole hundredths: exact
  expect({ stored, summed }).toEqual({ stored: { calls: sent, cents, names: sent }, summed: { calls: sent, cents } });
});

const MODELS = 2000;

test('a file of prices is taken as a whole, and once, when the process that takes it is killed', {
  timeout: 300_000,
}, async () => {
  const map = Object.fromEntries(
    Array.from({ length: MODELS }, (_, index) => [
      `file-${index}`,
      { litellm_provider: 'openai', input_cost_per_token: 3e-6, output_cost_per_token: 1.5e-5 },
    ]),
  );
  const answer = insist('/price_book/import?source=litellm', map);
  for (const strike of [stand.killPool('writes'), stand.flushRedis, stand.killPool('writes')]) {
    await sleep(300);
    await strike();
  }
  expect((await answer)!.status).toBe(200);
  await stand.ready();
  const { import: again } = (await insist('/price_book/import?source=litellm', map))!.body;
  expect(again).toMatchObject({ entries_new: 0, entries_changed: 0, entries_unchanged: 2 * MODELS });
  const [kept] = await stand.sql`
    select count(*)::int as rows, count(distinct (model, kind))::int as prices,
      count(distinct book_version)::int as writes
    from price_entries
    where organization_id = ${stand.organization.organization_id} and model like 'file-%'`;
  expect(kept).toEqual({ rows: 2 * MODELS, prices: 2 * MODELS, writes: 1 });
});
