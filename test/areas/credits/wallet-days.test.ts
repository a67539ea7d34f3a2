import { afterAll, beforeAll, expect, test } from 'vitest';
import { countStatements } from '../../support/count-statements.ts';
import { startService, type TestService } from '../../support/service.ts';
import { openStory, type Story } from '../../support/story.ts';
import { until } from '../../support/until.ts';
import { ok } from '../../support/words.ts';

// wallets.md#burn-down.
let service: TestService;
let story: Story;
let walletId: string;

beforeAll(async () => {
  service = await startService();
  story = await openStory(service, '2026-03-01T08:00:00Z');
  const metric = await story.metric('calls');
  await story.plan({
    amount_cents: 0,
    charges: [{ billable_metric_id: metric.svc_id, charge_model: 'standard', properties: { amount: '1' } }],
  });
  await story.customer({ external_id: 'ada' });
  await ok(story.subscribe({ external_customer_id: 'ada', external_id: 'ada-1' }));
  const { wallet } = await ok(
    story.client.post('/wallets', {
      wallet: { external_customer_id: 'ada', rate_amount: '1', currency: 'USD', granted_credits: '10' },
    }),
  );
  walletId = wallet.svc_id;
  // Granted credits come with the work that the command owes.
  await until(async () => (await burnDown()).available_cents === 1000 || undefined);
});
afterAll(() => service.stop());

const burnDown = async (query = '') =>
  (await story.client.get(`/wallets/${walletId}/burn_down${query}`)).body.burn_down;
const move = (fields: object) =>
  ok(story.client.post('/wallet_transactions', { wallet_transaction: { wallet_id: walletId, ...fields } }));
const useOn = async (day: string, calls: number) => {
  for (let call = 0; call < calls; call += 1) await story.use('calls', {}, { by: 'ada-1', at: `${day}T10:00:00Z` });
};

test('a new wallet has one day and no rate', async () => {
  expect(await burnDown()).toEqual({
    currency: 'USD',
    points: [
      { day: '2026-03-01', balance_cents: 1000, ongoing_balance_cents: 1000, added_cents: 1000, consumed_cents: 0 },
    ],
    available_cents: 1000,
    daily_rate_cents: null,
    days_left: null,
    exhausted_on: null,
    next_top_up_on: null,
  });
});

test('each day has its last figures, and what voids or tops up is not consumed', async () => {
  await useOn('2026-03-01', 1);
  await story.advanceTo('2026-03-02T09:00:00Z');
  await useOn('2026-03-02', 2);
  await story.advanceTo('2026-03-02T18:00:00Z');
  await move({ granted_credits: '3' });
  await move({ voided_credits: '1' });
  await story.advanceTo('2026-03-04T09:00:00Z');
  const shown = await burnDown('?days=7');
  expect(shown.points).toEqual([
    { day: '2026-03-01', balance_cents: 1000, ongoing_balance_cents: 900, added_cents: 1000, consumed_cents: 100 },
    { day: '2026-03-02', balance_cents: 1200, ongoing_balance_cents: 900, added_cents: 200, consumed_cents: 200 },
    { day: '2026-03-03', balance_cents: 1200, ongoing_balance_cents: 900, added_cents: 0, consumed_cents: 0 },
    { day: '2026-03-04', balance_cents: 1200, ongoing_balance_cents: 900, added_cents: 0, consumed_cents: 0 },
  ]);
  expect(shown).toMatchObject({
    available_cents: 900,
    daily_rate_cents: '100.00',
    days_left: 9,
    exhausted_on: '2026-03-13',
  });
});

test('a wallet is listed by the day on which it is used up, and asks for attention in its last week', async () => {
  const listed = async (days: number) =>
    (await story.client.get(`/wallets?days_left_to=${days}`)).body.wallets.map((row: { svc_id: string }) => row.svc_id);
  // What is left is computed with the next change.
  await useOn('2026-03-04', 1);
  await story.advanceTo('2026-03-04T12:00:00Z');
  expect(await burnDown()).toMatchObject({ available_cents: 800, days_left: 8, exhausted_on: '2026-03-12' });
  expect(await listed(7)).toEqual([]);
  expect(await listed(8)).toEqual([walletId]);
  await useOn('2026-03-04', 2);
  await story.advanceTo('2026-03-04T18:00:00Z');
  expect(await listed(7)).toEqual([walletId]);
  const { attention } = (await story.client.get('/attention')).body;
  expect(attention).toContainEqual(
    expect.objectContaining({ kind: 'wallets_ending', severity: 'info', count: 1, path: '/wallets' }),
  );
  expect((await story.client.get('/wallets?days_left_to=x')).body.error_details).toEqual({
    days_left_to: ['value_is_out_of_range'],
  });
});

test('a rule that tops up on a day is shown with its next one', async () => {
  await ok(
    story.client.put(`/wallets/${walletId}`, {
      wallet: {
        recurring_transaction_rules: [{ trigger: 'interval', interval: 'weekly', granted_credits: '5' }],
      },
    }),
  );
  expect((await burnDown()).next_top_up_on).toMatch(/^2026-03-/);
});

test('days beyond 7 to 400, and wallets of others, are refused', async () => {
  for (const days of ['6', '401', 'x'])
    expect((await story.client.get(`/wallets/${walletId}/burn_down?days=${days}`)).body.error_details).toEqual({
      days: ['value_is_out_of_range'],
    });
  const stranger = await service.org();
  expect((await stranger.get(`/wallets/${walletId}/burn_down`)).status).toBe(404);
});

test('three statements, with a few days and a year of them', async () => {
  const asked = () =>
    countStatements(service, story.organizationId, 'findWalletBurnDown', {
      now: '2026-03-04T18:00:00Z',
      svc_id: walletId,
      query: { days: '400' },
    });
  expect((await asked()).statements).toHaveLength(3);
  await service.sql`
    insert into wallet_days (organization_id, wallet_id, day, balance_cents, ongoing_balance_cents, added_cents)
    select ${story.organizationId}, ${walletId}, '2026-02-28'::date - n, 1000, 1000, 0 from generate_series(0, 390) n`;
  const many = await asked();
  expect(many.statements).toHaveLength(3);
  expect(many.body.burn_down.points).toHaveLength(395);
});
