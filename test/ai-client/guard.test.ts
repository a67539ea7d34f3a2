import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  BudgetRefused,
  BudgetUnavailable,
  guard,
  type Meterstone,
  meter,
  openMeterstone,
} from '../../packages/ai-client/src/index.ts';
import type { Client } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { ok } from '../support/words.ts';
import { startProviders, startReceiver } from './servers.ts';

let service: TestService;
let providers: Awaited<ReturnType<typeof startProviders>>;
let client: Client & { organization: { api_key: string } };
let to: Meterstone;
let openai: OpenAI;

beforeAll(async () => {
  providers = await startProviders();
  service = await startService({ pools: ['events', 'writes', 'billing', 'aggregation', 'budgets'] });
});
afterAll(async () => {
  await service.stop();
  await providers.close();
});

const chat = { model: 'alpha', messages: [{ role: 'user' as const, content: 'hello' }] };
const broken = { ...chat, model: 'breaking', stream: true as const };
const estimate = { provider: 'openai', model: 'alpha', parts: { input: 1000, output: 400 } };
const newFolder = () => mkdtempSync(join(tmpdir(), 'ai-client-'));

/** A customer with a ceiling of a cent; a call of the provider costs 0.45 of it, and at most 0.65. */
beforeEach(async () => {
  client = await service.org();
  await ok(client.post('/ai/setup', { setup: {} }));
  const price = (kind: string, cost: string) => ({ provider: 'openai', model: 'alpha', kind, cost });
  await ok(client.post('/price_book/entries', { entries: [price('input', '2.5'), price('output', '10')] }));
  await ok(
    client.post('/plans', {
      plan: {
        name: 'P',
        code: 'p',
        interval: 'monthly',
        amount_cents: 0,
        amount_currency: 'USD',
        pay_in_advance: false,
      },
    }),
  );
  await ok(client.post('/customers', { customer: { external_id: 'ada' } }));
  await ok(
    client.post('/subscriptions', {
      subscription: { external_customer_id: 'ada', plan_code: 'p', external_id: 'ada-1' },
    }),
  );
  await ok(
    client.post('/budgets', {
      budget: {
        code: 'ceiling',
        name: 'Ceiling',
        scope: 'customer',
        external_customer_id: 'ada',
        measure: 'cost',
        limit: '1',
        period: 'month',
        mode: 'hard',
      },
    }),
  );
  to = openMeterstone({ url: `${service.url}/api/v1`, key: client.organization.api_key, dir: newFolder() });
  openai = meter(new OpenAI({ apiKey: 'k', baseURL: `${providers.url}/v1`, maxRetries: 0 }), { to });
  return () => to.close();
});

const guarded = <Result>(work: () => PromiseLike<Result>) => guard({ to, subscription: 'ada-1', estimate }, work);
const holds = async (status: string) =>
  (await client.get('/budget_holds')).body.holds.filter((hold: { status: string }) => hold.status === status);
const figures = async () => {
  const { windows } = (await client.get('/budgets/ceiling/windows')).body;
  return windows.map(({ spent, held }: { spent: string; held: string }) => ({ spent, held }))[0];
};

test('a guarded call settles its hold with what it used, and the next one is refused where no room is left', async () => {
  const answer = await guarded(() => openai.chat.completions.create(chat));
  expect(answer.id).toBe('chatcmpl-1');
  await until(async () => (await holds('settled')).length === 1);
  expect(await figures()).toEqual({ spent: '0.45', held: '0.0' });
  const refused = guarded(() => openai.chat.completions.create(chat));
  await expect(refused).rejects.toThrow(BudgetRefused);
  await expect(refused).rejects.toMatchObject({ decision: { reasons: ['budget_exceeded'], exceeded: ['ceiling'] } });
});

test('a call that fails or is never made releases its hold, and its error is the caller’s', async () => {
  await expect(guarded(() => openai.chat.completions.create({ ...chat, model: 'wrong' }))).rejects.toBeInstanceOf(
    OpenAI.BadRequestError,
  );
  await until(async () => (await holds('released')).length === 1);
  expect(await guarded(async () => 'nothing')).toBe('nothing');
  await until(async () => (await holds('released')).length === 2);
  expect(await figures()).toEqual({ spent: '0.0', held: '0.0' });
});

test('a broken stream that has reported nothing counts what was held', async () => {
  const read = async () => {
    for await (const _ of await openai.chat.completions.create(broken)) {
      // until it breaks
    }
  };
  await expect(guarded(read)).rejects.toThrow();
  await until(async () => (await holds('settled')).length === 1);
  expect(await figures()).toEqual({ spent: '0.65', held: '0.0' });
});

test('while the service is away a call goes on as far as its last answer allows, else it is refused', async () => {
  const away = await startReceiver();
  const decision = (mode: string) => ({
    status: 200,
    body: {
      decision: {
        allowed: true,
        reasons: [],
        budgets: [{ code: 'b', measure: 'cost', requested: '0.4' }],
        outage: { mode, allowance: '1' },
      },
    },
  });
  const options = { to: openMeterstone({ url: away.url, key: 'k', dir: newFolder() }), estimate, timeoutMs: 100 };
  const tried = () => guard({ ...options, subscription: 'ada-1' }, async () => 'made');
  const down = () => ({ status: 503 });
  away.failing = down;
  await expect(tried()).rejects.toThrow(BudgetUnavailable);
  for (const [mode, made] of [
    ['open', ['made', 'made', BudgetUnavailable]],
    ['closed', [BudgetUnavailable]],
  ] as const) {
    away.failing = (path) => (path === '/budget_decisions' ? decision(mode) : { status: 200 });
    expect(await tried()).toBe('made');
    away.failing = down;
    for (const outcome of made) {
      if (typeof outcome === 'string') expect(await tried()).toBe(outcome);
      else await expect(tried()).rejects.toThrow(outcome);
    }
  }
  away.failing = undefined;
  await options.to.close();
  await away.close();
});
