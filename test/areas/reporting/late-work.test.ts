import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { countLateWork } from '../../../src/areas/reporting/late-work.ts';
import { startService, type TestService } from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const NOW = Temporal.Instant.from('2024-03-01T12:00:00Z');
const counted = async () =>
  Object.fromEntries((await countLateWork(service.sql, NOW)).map(({ what, count }) => [what, count]));

/** An organization with a subscription that is due for three hours and one that is due now. */
async function subscribed(sandbox: boolean) {
  const client = await service.org({ sandbox });
  if (sandbox) {
    const test_clock = { frozen_time: '2024-01-01T00:00:00Z' };
    expect((await client.post('/test_clock', { test_clock })).status).toBe(200);
  }
  const plan = {
    name: 'P',
    code: 'p',
    interval: 'monthly',
    amount_cents: 0,
    amount_currency: 'USD',
    pay_in_advance: false,
  };
  expect((await client.post('/plans', { plan })).status).toBe(200);
  for (const external_id of ['in-time', 'late']) {
    const subscription = { external_customer_id: 'ada', external_id, plan_code: 'p' };
    expect((await client.post('/subscriptions', { subscription })).status).toBe(200);
  }
  const id = client.organization.organization_id;
  await service.sql`
    update subscriptions
    set next_billing_at = case external_id when 'late' then ${NOW.subtract({ hours: 3 })}::timestamptz
      else ${NOW}::timestamptz end
    where organization_id = ${id}`;
  return { client, id };
}

test('what is late or fails is counted, but under a test clock', async () => {
  const { client, id } = await subscribed(false);
  expect(await counted()).toEqual({ subscriptions: 1, invoices: 0, corrections: 0, payments: 0, webhook_endpoints: 0 });

  await subscribed(true);
  const webhook_endpoint = { webhook_url: 'https://example.com/hook' };
  expect((await client.post('/webhook_endpoints', { webhook_endpoint })).status).toBe(200);
  await service.sql`update webhook_endpoints set consecutive_failures = 20 where organization_id = ${id}`;
  expect(await counted()).toMatchObject({ subscriptions: 1, webhook_endpoints: 1 });

  await service.sql`
    insert into payments (id, organization_id, customer_id, payable_type, payable_id, amount_cents, amount_currency,
      payment_type, status, payment_status, created_at, updated_at)
    select gen_random_uuid(), ${id}, id, 'Invoice', gen_random_uuid(), 100, 'USD', 'manual', 'failed', 'failed', at, at
    from customers, unnest(${[NOW.subtract({ hours: 1 }), NOW.subtract({ hours: 25 })].map(String)}::timestamptz[]) at
    where organization_id = ${id}`;
  expect(await counted()).toMatchObject({ payments: 1, invoices: 0 });

  await service.sql`
    insert into event_corrections (id, organization_id, kind, status, policy, credit_note_part, reason, dry_run,
      external_subscription_id, input, total, created_at)
    select gen_random_uuid(), ${id}, 'amend', status, 'ignore', 'credit', 'wrong', false, 'late', '{}', 1, at
    from unnest(array['applied', 'settled']) status,
      unnest(${[NOW.subtract({ hours: 1 }), NOW.subtract({ hours: 3 })].map(String)}::timestamptz[]) at`;
  expect(await counted()).toMatchObject({ corrections: 1 });
});
