import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { openStory } from './story.ts';

// Golden cases of subscriptions-and-invoices J.2.
let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

test.each([
  ['G22', 10, '2024-03-15T13:00:00Z', [2741935], '2024-03-15T12:12:00Z'],
  ['G24', 45, '2024-04-19T13:00:00Z', [0, 2000000], '2024-04-19T12:12:00Z'],
])('%s: a trial of %i days', async (_name, trial_period, until, totals, endedAt) => {
  const story = await openStory(service, '2024-03-05T12:12:00Z');
  await story.customer();
  await story.plan({ amount_cents: 5000000, pay_in_advance: true, trial_period });
  await story.subscribe();
  await story.advance(until);
  const invoices = await story.invoices(totals.length);
  expect(invoices.map((invoice) => invoice.total_amount_cents)).toEqual(totals);
  const { subscription } = (await story.client.get('/subscriptions/sub')).body;
  expect(subscription.trial_ended_at).toBe(endedAt);
});

test('G26: the run of the trial’s last day bills the fee, the trial’s end nothing more', async () => {
  const story = await openStory(service, '2024-03-22T01:12:00Z');
  await story.customer({ timezone: 'Europe/Paris' });
  await story.plan({ amount_cents: 5000000, pay_in_advance: true, trial_period: 10 });
  await story.subscribe();
  await story.advance('2024-04-01T12:00:00Z');
  const [april] = await story.invoices(1);
  expect(april).toMatchObject({ total_amount_cents: 5000000, created_at: '2024-03-31T22:10:00Z' });
});

test('G27: a trial that ends the day after the run bills from its end', async () => {
  const story = await openStory(service, '2024-03-22T18:12:00Z');
  await story.customer({ timezone: 'Asia/Tokyo' });
  await story.plan({ amount_cents: 5000000, pay_in_advance: true, trial_period: 10 });
  await story.subscribe();
  await story.advance('2024-04-01T19:00:00Z');
  const invoices = await story.invoices(2);
  expect(invoices.map((invoice) => invoice.total_amount_cents)).toEqual([0, 4833333]);
  expect(invoices[0].created_at).toBe('2024-03-31T15:10:00Z');
  expect(invoices[1].created_at).toBe('2024-04-01T18:35:00Z');
});
