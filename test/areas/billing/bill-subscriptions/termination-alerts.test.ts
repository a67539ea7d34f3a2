import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { openStory } from '../../../support/story.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

test('the end of a subscription is announced 45 and 15 days before its UTC day, once each', async () => {
  const story = await openStory(service, '2026-01-01T08:00:00Z');
  await story.client.post('/webhook_endpoints', { webhook_endpoint: { webhook_url: 'http://127.0.0.1:9/none' } });
  await story.customer();
  await story.plan({ amount_cents: 1000 });
  await story.subscribe({ ending_at: '2026-03-31T20:00:00Z' });
  const told = async () => {
    const rows = await service.sql<{ at: string }[]>`
      select to_char(occurred_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') as at from webhook_events
      where organization_id = ${story.organizationId} and webhook_type = 'subscription.termination_alert'
      order by position`;
    return rows.map(({ at }) => at);
  };
  await story.advanceTo('2026-02-13T23:59:00Z');
  expect(await told()).toEqual([]);
  await story.advanceTo('2026-02-14T12:00:00Z');
  expect(await told()).toEqual(['2026-02-14 00:50']);
  await story.advanceTo('2026-04-01T12:00:00Z');
  expect(await told()).toEqual(['2026-02-14 00:50', '2026-03-16 00:50']);
  expect((await story.client.get('/subscriptions/sub?status=terminated')).body.subscription.status).toBe('terminated');
});

test('a subscription whose end is moved is announced again', async () => {
  const story = await openStory(service, '2026-01-01T08:00:00Z');
  await story.client.post('/webhook_endpoints', { webhook_endpoint: { webhook_url: 'http://127.0.0.1:9/none' } });
  await story.customer();
  await story.plan({ amount_cents: 1000 });
  await story.subscribe({ ending_at: '2026-01-20T00:00:00Z' });
  await story.advanceTo('2026-01-06T00:00:00Z');
  await story.client.put('/subscriptions/sub', { subscription: { ending_at: '2026-01-30T00:00:00Z' } });
  await story.advanceTo('2026-01-16T00:00:00Z');
  const [row] = await service.sql<{ count: number }[]>`
    select count(*) as count from webhook_events
    where organization_id = ${story.organizationId} and webhook_type = 'subscription.termination_alert'`;
  expect(row!.count).toBe(2);
});
