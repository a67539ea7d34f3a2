import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { disableWebhookEndpoint } from '../../../src/areas/messaging/webhook-endpoints/writes.ts';
import { mailNotice } from '../../../src/areas/reporting/mail-notices/mail-notice.ts';
import { realNow } from '../../../src/platform/clock/real-clock.ts';
import { systemTransaction } from '../../../src/platform/records/system-transaction.ts';
import type { StepPayload } from '../../../src/steps.ts';
import { scratchDeps } from '../../jobs/advance-clock/scratch.ts';
import { startService, type TestService } from '../../support/service.ts';
import { openStory, type Story } from '../../support/story.ts';
import { until } from '../../support/until.ts';
import { ok, type Shown } from '../../support/words.ts';

// Mails about wallets, subscriptions, endpoints and keys: docs/rules/mails.md#templates.
let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const TEMPLATES = ['wallet_low', 'top_up_failed', 'trial_ending', 'subscription_ending', 'payment_failed'];

/** A seller in Berlin that has everything mailed which can be switched on. */
async function seller(now: string, settings: object = {}): Promise<Story> {
  const story = await openStory(service, now);
  const [{ code }] = (await ok(story.client.get('/billing_entities'))).billing_entities;
  await ok(story.client.put(`/billing_entities/${code}`, { billing_entity: { legal_name: 'Nord GmbH' } }));
  const templates = Object.fromEntries(TEMPLATES.map((name) => [name, true]));
  await ok(story.client.put(`/billing_entities/${code}/mail_settings`, { mail_settings: { templates, ...settings } }));
  return story;
}

const mailsOf = async (story: Story, template: string): Promise<Shown[]> =>
  (await ok(story.client.get(`/mails?templates[]=${template}&per_page=100`))).mails;
const onlyMail = async (story: Story, template: string): Promise<Shown> => {
  const [row] = await until(async () => {
    const found = await mailsOf(story, template);
    return found.length > 0 ? found : undefined;
  });
  return (await ok(story.client.get(`/mails/${row.svc_id}`))).mail;
};
/** Links of a mail as a sandbox keeps them, which are those that are sent. */
const sentText = async (story: Story, subject: string): Promise<string> =>
  (await ok(story.client.get('/sandbox/mails?per_page=100'))).mails.find((mail: Shown) => mail.subject === subject)
    .text;
const noStepsLeft = (story: Story) =>
  until(async () => {
    const rows = await service.sql`
      select from after_steps where organization_id = ${story.organizationId} and job = 'mail-notice'`;
    return rows.length === 0 || undefined;
  });

/** A wallet whose first credits are there: they are granted by a step of their own. */
const wallet = async (story: Story, fields: { name?: string; granted_credits?: string } = {}): Promise<Shown> => {
  const body = { external_customer_id: 'acme', rate_amount: '1', currency: 'USD', code: 'main', ...fields };
  const made: Shown = (await ok(story.client.post('/wallets', { wallet: body }))).wallet;
  const due = Number(fields.granted_credits ?? 0) * 100;
  return until(async () => {
    const shown: Shown = (await ok(story.client.get(`/wallets/${made.svc_id}`))).wallet;
    return shown.balance_cents === due ? shown : undefined;
  });
};

/** Runs the step of a notice by hand. */
const run = (story: Story, payload: StepPayload<'mail-notice'>, now = payload.at) =>
  systemTransaction(
    { ...scratchDeps(service.sql), config: service.config },
    { id: story.organizationId, sandbox: true },
    async () => Temporal.Instant.from(now),
    (ctx) => mailNotice(ctx, payload),
  );

describe('a wallet that is low', () => {
  test('is mailed once for each alert, with a link to its page, while it is still low', async () => {
    const story = await seller('2026-05-01T10:00:00Z');
    await story.customer({ email: 'ada@reader.example', name: 'Ada' });
    const made = await wallet(story, { name: 'Credits', granted_credits: '100' });
    await ok(
      story.client.post('/customers/acme/wallets/main/alerts', {
        alert: { alert_type: 'wallet_balance_amount', code: 'low', thresholds: [{ value: 2000 }] },
      }),
    );
    const move = (fields: object) =>
      ok(story.client.post('/wallet_transactions', { wallet_transaction: { wallet_id: made.svc_id, ...fields } }));
    await move({ voided_credits: '90' });
    const mail = await onlyMail(story, 'wallet_low');
    expect(mail).toMatchObject({
      subject: 'Nord GmbH: $10.00 left in Credits',
      to: ['ada@reader.example'],
      external_customer_id: 'acme',
      resource_type: 'Wallet',
      svc_resource_id: made.svc_id,
      text: expect.stringContaining('$10.00 left\nCredits · 10 credits'),
    });
    expect(await sentText(story, mail.subject)).toMatch(
      new RegExp(`/customer-portal/[\\w.-]+/wallets/${made.svc_id}$`, 'm'),
    );

    const [triggered] = await service.sql<{ id: string }[]>`
      select id from triggered_alerts where organization_id = ${story.organizationId}`;
    const payload = {
      template: 'wallet_low' as const,
      resource_id: made.svc_id,
      occasion: `alert ${triggered!.id}`,
      at: '2026-05-01T10:00:00Z',
    };
    await Promise.all(Array.from({ length: 4 }, () => run(story, payload)));
    expect(await mailsOf(story, 'wallet_low')).toHaveLength(1);

    await service.sql`delete from mails where organization_id = ${story.organizationId}`;
    await run(story, payload, '2026-05-02T10:00:01Z');
    expect(await mailsOf(story, 'wallet_low')).toEqual([]);
    await move({ granted_credits: '90' });
    await run(story, payload);
    expect(await mailsOf(story, 'wallet_low')).toEqual([]);
  });

  test('is mailed to nobody until its issuer switches that on', async () => {
    const story = await openStory(service, '2026-05-01T10:00:00Z');
    await story.customer({ email: 'ada@reader.example' });
    const made = await wallet(story, { granted_credits: '100' });
    await ok(
      story.client.post('/customers/acme/wallets/main/alerts', {
        alert: { alert_type: 'wallet_balance_amount', code: 'low', thresholds: [{ value: 2000 }] },
      }),
    );
    await ok(
      story.client.post('/wallet_transactions', {
        wallet_transaction: { wallet_id: made.svc_id, voided_credits: '90' },
      }),
    );
    await noStepsLeft(story);
    expect(await mailsOf(story, 'wallet_low')).toEqual([]);
  });
});

test('a refused top-up is mailed once, in place of the mail about its charge', async () => {
  const story = await seller('2026-05-01T10:00:00Z');
  await ok(
    story.client.post('/payment_providers', { payment_provider: { type: 'sandbox', code: 'test', name: 'Test' } }),
  );
  await story.customer({
    email: 'ada@reader.example',
    billing_configuration: { payment_provider: 'stripe', sync_with_provider: true },
  });
  await ok(
    story.client.post('/customers/acme/payment_methods', { payment_method: { card_number: '4000000000000002' } }),
  );
  const made = await wallet(story);
  const {
    wallet_transactions: [bought],
  } = await ok(
    story.client.post('/wallet_transactions', { wallet_transaction: { wallet_id: made.svc_id, paid_credits: '20' } }),
  );
  const mail = await onlyMail(story, 'top_up_failed');
  expect(mail).toMatchObject({
    subject: 'Nord GmbH: top-up of $20.00 failed',
    resource_type: 'WalletTransaction',
    svc_resource_id: bought.svc_id,
    text: expect.stringContaining('Prepaid credits · 20 credits'),
  });
  await ok(story.client.post(`/invoices/${bought.svc_invoice_id}/retry_payment`));
  await until(async () => {
    const { payments } = await ok(story.client.get(`/payments?invoice_id=${bought.svc_invoice_id}`));
    return payments.filter(({ payment_status: status }: Shown) => status === 'failed').length === 2 || undefined;
  });
  await noStepsLeft(story);
  expect(await mailsOf(story, 'top_up_failed')).toHaveLength(1);
  expect(await mailsOf(story, 'payment_failed')).toEqual([]);
});

describe('the end of a trial', () => {
  const trial = async (story: Story, fields: object = {}): Promise<Shown> => {
    await story.customer({ email: 'ada@reader.example' });
    await story.plan({ name: 'Pro', amount_cents: 3000, trial_period: 10, pay_in_advance: true, ...fields });
    return (await ok(story.subscribe({ billing_time: 'anniversary' }))).subscription;
  };

  test('is mailed three days before, once, with the first fee of a plan in advance', async () => {
    const story = await seller('2026-05-01T10:00:00Z');
    const { svc_id } = await trial(story);
    await story.advanceTo('2026-05-08T09:55:00Z');
    expect(await mailsOf(story, 'trial_ending')).toEqual([]);
    await story.advanceTo('2026-05-08T11:00:00Z');
    const mail = await onlyMail(story, 'trial_ending');
    expect(mail).toMatchObject({
      subject: 'Your trial at Nord GmbH ends on May 11, 2026',
      resource_type: 'Subscription',
      svc_resource_id: svc_id,
      text: expect.stringContaining('Plan: Pro · $30.00 a month'),
    });
    await story.advanceTo('2026-05-12T11:00:00Z');
    expect(await mailsOf(story, 'trial_ending')).toHaveLength(1);
    const [invoice] = await story.invoices(1);
    const billed = (invoice.total_amount_cents / 100).toFixed(2);
    expect(mail.text).toContain(`Next invoice: $${billed}`);
  });

  test('is mailed so many days before as its issuer says, also of a plan in arrears', async () => {
    const story = await seller('2026-05-01T10:00:00Z', { trial_days: 7 });
    await trial(story, { pay_in_advance: false });
    await story.advanceTo('2026-05-04T11:00:00Z');
    expect((await onlyMail(story, 'trial_ending')).text).toMatch(/Next invoice: \$\d+\.\d\d/);
  });

  test('that is over when the mail is switched on is not mailed', async () => {
    const story = await openStory(service, '2026-05-01T10:00:00Z');
    await trial(story);
    await story.advanceTo('2026-05-12T11:00:00Z');
    const [{ code }] = (await ok(story.client.get('/billing_entities'))).billing_entities;
    const mail_settings = { templates: { trial_ending: true }, trial_days: 30 };
    await ok(story.client.put(`/billing_entities/${code}/mail_settings`, { mail_settings }));
    await story.advanceTo('2026-05-14T11:00:00Z');
    expect(await mailsOf(story, 'trial_ending')).toEqual([]);
  });

  test('that moves is mailed for its new day; a step about the former one says nothing', async () => {
    const story = await seller('2026-05-01T10:00:00Z');
    const { svc_id } = await trial(story);
    await run(story, {
      template: 'trial_ending',
      resource_id: svc_id,
      occasion: 'ends 2026-05-10T10:00:00Z',
      at: '2026-05-08T10:00:00Z',
    });
    expect(await mailsOf(story, 'trial_ending')).toEqual([]);
    await run(story, {
      template: 'trial_ending',
      resource_id: svc_id,
      occasion: 'ends 2026-05-11T10:00:00Z',
      at: '2026-05-08T10:00:00Z',
    });
    expect(await mailsOf(story, 'trial_ending')).toHaveLength(1);
  });

  test.each([0, 31, 'soon', 1.5])('%j days before are refused', async (trial_days) => {
    const story = await openStory(service, '2026-05-01T10:00:00Z');
    const [{ code }] = (await ok(story.client.get('/billing_entities'))).billing_entities;
    const answer = await story.client.put(`/billing_entities/${code}/mail_settings`, { mail_settings: { trial_days } });
    expect(answer.body).toMatchObject({ status: 422, error_details: { trial_days: [expect.any(String)] } });
  });
});

test('the end of a subscription is mailed on each day on which it is announced, with its last invoice', async () => {
  const story = await seller('2026-05-01T10:00:00Z');
  await story.customer({ email: 'ada@reader.example', billing_configuration: { document_locale: 'de' } });
  await story.plan({ name: 'Pro', amount_cents: 3000 });
  await ok(story.subscribe({ ending_at: '2026-05-20T10:00:00Z' }));
  await story.advanceTo('2026-05-19T12:00:00Z');
  const days = service.config.SUBSCRIPTION_TERMINATION_ALERT_DAYS.filter((each) => each <= 19);
  const mails = await mailsOf(story, 'subscription_ending');
  expect(mails).toHaveLength(days.length);
  const mail = await onlyMail(story, 'subscription_ending');
  expect(mail.subject).toBe('Ihr Abonnement bei Nord GmbH endet am 20.05.2026');
  expect(mail.text).toMatch(/^Nächste Rechnung: \d+,\d\d.\$$/m);
});

describe('usage that reached a limit', () => {
  const alert = async (story: Story, code: string) => {
    await story.customer({ email: 'ada@reader.example' });
    await story.metric('calls');
    await story.plan({
      name: 'Pro',
      amount_cents: 0,
      charges: [
        {
          billable_metric_id: (await ok(story.client.get('/billable_metrics/calls'))).billable_metric.svc_id,
          charge_model: 'standard',
          properties: { amount: '5' },
        },
      ],
    });
    await ok(story.subscribe());
    await ok(
      story.client.post('/subscriptions/sub/alerts', {
        alert: { alert_type: 'current_usage_amount', code, thresholds: [{ value: 1000 }] },
      }),
    );
    for (let count = 0; count < 3; count += 1) await story.use('calls', {}, { at: '2026-05-01T10:00:00Z' });
    await until(async () => {
      const rows = await service.sql`
        select from triggered_alerts where organization_id = ${story.organizationId}`;
      if (rows.length > 0) return true;
      await story.advanceTo((await nowOf(story)).add({ minutes: 10 }).toString());
      return undefined;
    });
    await noStepsLeft(story);
  };
  const nowOf = async (story: Story) =>
    Temporal.Instant.from((await ok(story.client.get('/test_clock'))).test_clock.frozen_time);

  test('is mailed to the customer that had set it', async () => {
    const story = await seller('2026-05-01T10:00:00Z');
    await alert(story, 'portal-1');
    const mail = await onlyMail(story, 'usage_alert');
    expect(mail.subject).toBe('Nord GmbH: usage of Pro has reached $10.00');
    expect(mail.text).toContain('Usage so far: $15.00\nLimit: $10.00');
  });

  test('is not mailed where the seller had set it for itself', async () => {
    const story = await seller('2026-05-01T10:00:00Z');
    await alert(story, 'mine');
    expect(await mailsOf(story, 'usage_alert')).toEqual([]);
  });
});

describe('people of the organization', () => {
  test('hear of a new key, whatever is switched off', async () => {
    const story = await seller('2026-05-01T10:00:00Z');
    await ok(story.client.put('/organizations', { organization: { email: 'ops@nord.example' } }));
    const { api_key } = await ok(story.client.post('/api_keys', { api_key: { name: 'Evil {link} <b>' } }));
    const mail = await onlyMail(story, 'key_created');
    expect(mail).toMatchObject({
      subject: 'A new API key of Nord GmbH',
      to: ['ops@nord.example'],
      external_customer_id: null,
      resource_type: 'ApiKey',
      svc_resource_id: api_key.svc_id,
      text: expect.stringContaining(`Name: Evil {link} <b>\nEnds in: …${api_key.value.slice(-4)}`),
      html: expect.stringContaining('Evil {link} &lt;b&gt;'),
    });
    expect(`${mail.text}${mail.html}`).not.toContain(api_key.value);
    const [{ code }] = (await ok(story.client.get('/billing_entities'))).billing_entities;
    const off = { mail_settings: { templates: { key_created: false } } };
    expect((await story.client.put(`/billing_entities/${code}/mail_settings`, off)).body.error_details).toEqual({
      templates: ['value_is_frozen'],
    });
  });

  test('hear of an endpoint that was taken out of service, unless it is back', async () => {
    const story = await seller('2026-05-01T10:00:00Z');
    await ok(story.client.put('/organizations', { organization: { email: 'ops@nord.example' } }));
    const endpoint = async (webhook_url: string) =>
      (await ok(story.client.post('/webhook_endpoints', { webhook_endpoint: { webhook_url } }))).webhook_endpoint;
    const [gone, back] = [await endpoint('https://hooks.example/gone'), await endpoint('https://hooks.example/back')];
    for (const { svc_id: id } of [gone, back])
      await disableWebhookEndpoint(service.sql, {
        organizationId: story.organizationId,
        id,
        reason: 'gone',
        at: realNow(),
      });
    await ok(story.client.put(`/webhook_endpoints/${back.svc_id}`, { webhook_endpoint: { enabled: true } }));
    const steps = await service.sql<{ payload: StepPayload<'mail-notice'> }[]>`
      select payload from after_steps where organization_id = ${story.organizationId} and job = 'mail-notice'`;
    expect(steps).toHaveLength(2);
    for (const { payload } of steps) await run(story, payload);
    const mails = await mailsOf(story, 'endpoint_disabled');
    expect(mails).toMatchObject([{ to: ['ops@nord.example'], svc_resource_id: gone.svc_id }]);
    expect((await onlyMail(story, 'endpoint_disabled')).text).toContain('Endpoint: https://hooks.example/gone');
  });
});
