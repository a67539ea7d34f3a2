import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startService, type TestService } from '../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../support/story.ts';
import { until } from '../../support/until.ts';
import { ok } from '../../support/words.ts';

// Dunning campaigns: payment-requests.md#dunning, payment-requests.md#dunning-campaigns.
let service: TestService;
let story: Story;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const CAMPAIGN = {
  name: 'Polite',
  code: 'polite',
  max_attempts: 2,
  days_between_attempts: 2,
  applied_to_organization: true,
  thresholds: [
    { amount_cents: 15000, currency: 'EUR' },
    { amount_cents: 10000, currency: 'USD' },
  ],
};

const campaign = (fields: object = {}) =>
  story.client.post('/dunning_campaigns', { dunning_campaign: { ...CAMPAIGN, ...fields } });

beforeEach(async () => {
  story = await openStory(service, '2024-05-01T10:00:00Z');
  await story.customer({ email: 'billing@acme.test', net_payment_term: 1 });
  for (const currency of ['EUR', 'USD'])
    await ok(
      story.client.post('/add_ons', {
        add_on: { name: currency, code: currency, amount_cents: 100, amount_currency: currency },
      }),
    );
});

const invoice = async (currency: string, cents: number): Promise<Invoice> =>
  (
    await ok(
      story.client.post('/invoices', {
        invoice: {
          external_customer_id: 'acme',
          currency,
          fees: [{ add_on_code: currency, unit_amount_cents: cents, units: 1 }],
        },
      }),
    )
  ).invoice;
const requests = async (): Promise<[string, number][]> =>
  (await ok(story.client.get('/payment_requests'))).payment_requests
    .map((each: Invoice) => [each.amount_currency, each.amount_cents])
    .reverse();
const state = async () => (await ok(story.client.get('/customers/acme/dunning'))).dunning;
const attempts = async () =>
  Object.fromEntries((await state()).currencies.map((each: Invoice) => [each.currency, each.attempts]));

test('dunning sends four requests, each at its time, as in the example of the rule (DU1, golden case 86)', async () => {
  await ok(campaign());
  await invoice('EUR', 14900);
  await invoice('USD', 12000);
  await story.advanceTo('2024-05-03T01:00:00Z');
  expect(await attempts()).toEqual({ EUR: 0, USD: 1 });
  expect(await requests()).toEqual([['USD', 12000]]);
  expect((await ok(story.client.get('/payment_requests'))).payment_requests[0].dunning_campaign_code).toBe('polite');

  await invoice('EUR', 1000);
  await story.advanceTo('2024-05-05T00:50:00Z');
  // The same hour two days later is not yet strictly later, and the new invoice is overdue since today.
  expect(await attempts()).toEqual({ EUR: 0, USD: 1 });
  await story.advanceTo('2024-05-05T02:00:00Z');
  expect(await attempts()).toEqual({ EUR: 1, USD: 2 });
  await story.advanceTo('2024-05-09T00:00:00Z');
  expect(await attempts()).toEqual({ EUR: 2, USD: 2 });
  await story.advanceTo('2024-05-12T00:00:00Z');
  expect(await requests()).toEqual([
    ['USD', 12000],
    ['EUR', 15900],
    ['USD', 12000],
    ['EUR', 15900],
  ]);
  // They wait for the PDFs of their invoices.
  const mails = await until(async () => {
    const { mails: sent } = await ok(story.client.get('/sandbox/mails'));
    return sent.length >= 4 ? sent : undefined;
  });
  expect(mails).toHaveLength(4);
  expect(await state()).toMatchObject({ campaign_code: 'polite', source: 'billing_entity', excluded: false });
  const { timeline } = await ok(story.client.get('/test_clock/timeline?kinds[]=webhook&per_page=1000'));
  const told = timeline.filter((each: Invoice) => each.name === 'dunning_campaign.finished');
  expect(told.map((each: Invoice) => each.at)).toEqual(['2024-05-07T02:45:00Z']);
});

test('paying an invoice in dunning restarts the campaign', async () => {
  await ok(campaign());
  const made = await invoice('USD', 12000);
  await story.advanceTo('2024-05-03T01:00:00Z');
  expect(await attempts()).toEqual({ EUR: 0, USD: 1 });
  await ok(
    story.client.post('/payments', { payment: { invoice_id: made.svc_id, amount_cents: 12000, reference: 'bank' } }),
  );
  expect(await attempts()).toEqual({ EUR: 0, USD: 0 });
  expect((await state()).last_attempt_at).toBeNull();
});

test('dunning skips an excluded customer and one whose balance is too small, and can be reset', async () => {
  await ok(campaign());
  await story.customer({ exclude_from_dunning_campaign: true });
  await invoice('USD', 12000);
  await story.advanceTo('2024-05-04T00:00:00Z');
  expect(await requests()).toEqual([]);
  expect((await state()).excluded).toBe(true);
  await story.customer({ dunning_campaign_code: 'polite' });
  expect(await state()).toMatchObject({ excluded: false, source: 'customer' });
  await story.advanceTo('2024-05-04T01:00:00Z');
  expect(await attempts()).toEqual({ EUR: 0, USD: 1 });
  const thresholds = [{ amount_cents: 99000, currency: 'USD' }];
  await ok(story.client.put('/dunning_campaigns/polite', { dunning_campaign: { thresholds } }));
  expect(await attempts()).toEqual({ USD: 0 });
  await ok(story.client.put('/dunning_campaigns/polite', { dunning_campaign: { thresholds: CAMPAIGN.thresholds } }));
  await story.advanceTo('2024-05-04T02:00:00Z');
  expect(await attempts()).toEqual({ EUR: 0, USD: 1 });
  await ok(story.client.post('/customers/acme/dunning/reset'));
  expect(await attempts()).toEqual({ EUR: 0, USD: 0 });
});

test('another campaign can become that of the organization (DU3), and a deleted one is detached', async () => {
  await ok(campaign());
  await ok(campaign({ code: 'strict', name: 'Strict' }));
  const list = async () =>
    Object.fromEntries(
      (await ok(story.client.get('/dunning_campaigns'))).dunning_campaigns.map((each: Invoice) => [
        each.code,
        each.applied_to_organization,
      ]),
    );
  expect(await list()).toEqual({ polite: false, strict: true });
  const codes = async (applied: boolean) =>
    (await ok(story.client.get(`/dunning_campaigns?applied_to_organization=${applied}`))).dunning_campaigns.map(
      ({ code }: Invoice) => code,
    );
  expect([await codes(true), await codes(false)]).toEqual([['strict'], ['polite']]);
  expect((await ok(story.client.delete('/dunning_campaigns/strict'))).dunning_campaign.code).toBe('strict');
  expect(await list()).toEqual({ polite: false });
  expect((await state()).campaign_code).toBeNull();
  await ok(story.client.put('/dunning_campaigns/polite', { dunning_campaign: { applied_to_organization: true } }));
  expect(await list()).toEqual({ polite: true });
});

test.each([
  [{ thresholds: [] }, 'value_is_mandatory'],
  [
    {
      thresholds: [
        { amount_cents: 1, currency: 'EUR' },
        { amount_cents: 2, currency: 'EUR' },
      ],
    },
    'value_already_exist',
  ],
  [{ thresholds: [{ amount_cents: -1, currency: 'EUR' }] }, 'value_is_out_of_range'],
  [{ thresholds: [{ amount_cents: 1, currency: 'XXX' }] }, 'value_is_invalid'],
  [{ max_attempts: 0 }, 'value_is_out_of_range'],
  [{ bcc_emails: ['x'] }, 'invalid_email_format'],
  [{ name: '' }, 'value_is_mandatory'],
])('a dunning campaign with %j is refused (DU2)', async (fields, code) => {
  const answer = await campaign(fields);
  expect(answer.status, answer.text).toBe(422);
  expect(answer.text).toContain(code);
});
