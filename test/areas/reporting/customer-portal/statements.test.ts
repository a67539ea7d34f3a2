import { afterAll, beforeAll, expect, test } from 'vitest';
import { effectiveSettings } from '../../../../src/areas/customers/portal-settings/settings.ts';
import { alertsPage } from '../../../../src/areas/reporting/customer-portal/alerts/page.ts';
import { detailsPage } from '../../../../src/areas/reporting/customer-portal/details/page.ts';
import { DOCUMENT_LISTS, documentsPage } from '../../../../src/areas/reporting/customer-portal/documents/page.ts';
import { type Frame, frameOf } from '../../../../src/areas/reporting/customer-portal/frame.ts';
import { methodsPage } from '../../../../src/areas/reporting/customer-portal/methods/page.ts';
import { newNonce } from '../../../../src/areas/reporting/customer-portal/nonce.ts';
import { overviewPage } from '../../../../src/areas/reporting/customer-portal/overview/page.ts';
import { readOverview } from '../../../../src/areas/reporting/customer-portal/overview/reads.ts';
import { admit } from '../../../../src/areas/reporting/customer-portal/reads.ts';
import { languageOf } from '../../../../src/areas/reporting/customer-portal/texts/by-locale.ts';
import { usagePage } from '../../../../src/areas/reporting/customer-portal/usage/page.ts';
import { walletPage } from '../../../../src/areas/reporting/customer-portal/wallet/page.ts';
import type { Context } from '../../../../src/platform/context.ts';
import { countReads, readingAt } from '../../../support/count-statements.ts';
import { portalPath } from '../../../support/portal.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { openStory, type Story } from '../../../support/story.ts';

const NOW = '2024-04-10T12:00:00Z';
const MOST_STATEMENTS = 12;
const MOST_BYTES = 40_000;

let service: TestService;
let story: Story;
let walletId: string;
let subscriptionId: string;

/** A customer with five subscriptions of many charges, limits and credits. */
beforeAll(async () => {
  service = await startService();
  story = await openStory(service, '2024-04-01T00:00:00Z');
  const { client } = story;
  await story.customer();
  const metric = async (code: string, fields: object) =>
    (await client.post('/billable_metrics', { billable_metric: { name: code, code, ...fields } })).body.billable_metric
      .svc_id;
  const plain = { charge_model: 'standard', properties: { amount: '1' } };
  const sums = await metric('sums', { aggregation_type: 'sum_agg', field_name: 'value' });
  const users = await metric('users', { aggregation_type: 'unique_count_agg', field_name: 'value' });
  await client.post('/features', {
    feature: { code: 'seats', name: 'Seats', privileges: [{ code: 'max', value_type: 'integer' }] },
  });
  await client.put('/features/seats/usage_limits', {
    usage_limits: [{ privilege_code: 'max', billable_metric_code: 'sums', period: 'billing_period' }],
  });
  await story.plan({
    amount_cents: 1000,
    charges: [
      { billable_metric_id: sums, pay_in_advance: true, ...plain },
      ...Array.from({ length: 10 }, () => ({ billable_metric_id: sums, ...plain })),
      ...Array.from({ length: 9 }, () => ({ billable_metric_id: users, ...plain })),
    ],
  });
  await client.post('/plans/starter/entitlements', { entitlements: { seats: { max: 100 } } });
  for (const external_id of ['s-1', 's-2', 's-3', 's-4', 's-5', 's-6']) {
    await story.subscribe({ external_id, name: external_id });
    for (const code of ['sums', 'users'])
      await client.post('/events', {
        event: {
          transaction_id: `${external_id}-${code}`,
          external_subscription_id: external_id,
          code,
          timestamp: Date.parse('2024-04-09T12:00:00Z') / 1000,
          properties: { value: 4 },
        },
      });
  }
  const wallet = await client.post('/wallets', {
    wallet: { external_customer_id: 'acme', rate_amount: '1', currency: 'USD', granted_credits: '10' },
  });
  walletId = wallet.body.wallet.svc_id;
  subscriptionId = (await client.get('/subscriptions/s-2')).body.subscription.svc_id;
  await story.advanceTo(NOW);
});
afterAll(() => service.stop());

type Page = (ctx: Context, frame: Frame) => Promise<string>;

const PAGES: Readonly<Record<string, Page>> = {
  overview: (ctx, frame) => overviewPage(ctx, frame, { page: 1 }),
  usage: (ctx, frame) => usagePage(ctx, frame, { id: subscriptionId, page: 1, preview: async () => undefined }),
  wallet: (ctx, frame) => walletPage(ctx, frame, { id: walletId, page: 1 }),
  methods: (ctx, frame) => methodsPage(ctx, frame, {}),
  alerts: (ctx, frame) => alertsPage(ctx, frame, { page: 1 }),
  details: (ctx, frame) => detailsPage(ctx, frame, {}),
  ...Object.fromEntries(
    DOCUMENT_LISTS.map((list): [string, Page] => [
      list,
      (ctx, frame) => documentsPage(ctx, frame, { list, query: new URLSearchParams() }),
    ]),
  ),
};

async function opened<Answer>(read: (ctx: Context, frame: Frame) => Promise<Answer>) {
  const token = (await portalPath(story.client, 'acme')).split('/').at(-1)!;
  return countReads(service, async (sql) => {
    const admission = await admit({ db: sql, config: service.config }, token);
    if ('expired' in admission) throw new Error('the link works');
    const { customer, now, secret, mayAct } = admission;
    const ownLanguage = languageOf(customer);
    const frame = frameOf({
      customer,
      settings: effectiveSettings({ allow: { top_up: true, payment_methods: true, billing_data: true, alerts: true } }),
      language: ownLanguage,
      ownLanguage,
      now,
      path: '',
      root: '',
      isEmbedded: false,
      mayAct,
      nonce: () => newNonce(secret, customer.id),
      bounds: () => ({ leastCents: 1, mostCents: 100 }),
    });
    return read(readingAt(service, sql, customer.organization_id, NOW), frame);
  });
}

test.each(Object.keys(PAGES))('the page %s takes at most 12 statements and 40 kB', async (name) => {
  const { statements, body } = await opened(PAGES[name]!);
  expect(statements.length).toBeLessThanOrEqual(MOST_STATEMENTS);
  expect(body.length).toBeLessThanOrEqual(MOST_BYTES);
});

test('usage on the overview is that of the API, for the first five subscriptions', async () => {
  const { body: overview } = await opened((ctx, frame) => readOverview(ctx, frame, 1));
  expect(overview.subscriptions.rows).toHaveLength(6);
  expect(overview.usage!.size).toBe(5);
  for (const { subscription, amountCents } of overview.usage!.values()) {
    const { customer_usage } = (
      await story.client.get(`/customers/acme/current_usage?external_subscription_id=${subscription.external_id}`)
    ).body;
    expect(amountCents).toBe(customer_usage.amount_cents);
  }
});
