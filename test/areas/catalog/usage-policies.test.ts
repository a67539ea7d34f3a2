import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Client } from '../../support/client.ts';
import { startService, type TestService } from '../../support/service.ts';

// Where policies of corrections and late events are set: event-corrections.md#policy, other-routes.md#records.
let service: TestService;
let client: Client;

beforeAll(async () => {
  service = await startService();
  client = await service.org({ sandbox: true });
});
afterAll(() => service.stop());

const plan = {
  name: 'P',
  code: 'p',
  interval: 'monthly',
  amount_cents: 0,
  amount_currency: 'USD',
  pay_in_advance: false,
};

test('an organization keeps its policies for corrections among its settings', async () => {
  const put = (usage_policies: object) => client.put('/organizations/settings', { settings: { usage_policies } });
  const usage_policies = { corrections: 'debit_invoice', late_events: 'next_invoice' };
  expect((await put(usage_policies)).body.settings).toMatchObject({ usage_policies });
  expect((await client.get('/organizations/settings')).body.settings).toMatchObject({ usage_policies });
});

test('a plan has policies of its own, which an update without them leaves unchanged', async () => {
  const made = await client.post('/plans', { plan: { ...plan, usage_policies: { corrections: 'ignore' } } });
  expect(made.body.plan.usage_policies).toEqual({ corrections: 'ignore', late_events: null });
  await client.put('/plans/p', { plan: { name: 'Q' } });
  expect((await client.get('/plans/p')).body.plan).toMatchObject({
    name: 'Q',
    usage_policies: { corrections: 'ignore', late_events: null },
  });
  await client.put('/plans/p', { plan: { usage_policies: null } });
  expect((await client.get('/plans/p')).body.plan).not.toHaveProperty('usage_policies');
  const wrong = await client.post('/plans', { plan: { ...plan, code: 'w', usage_policies: { late_events: 1 } } });
  expect(wrong.status).toBe(422);
});
