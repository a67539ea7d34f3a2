import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formIn, portalPath, sendForm, visitPortal } from '../support/portal.ts';
import { keysOf, removeKeys } from '../support/redis-keys.ts';
import { startService, type TestService } from '../support/service.ts';
import { openStory, type Story } from '../support/story.ts';
import { expectAccessible, lacksChromium, launch, openPage } from './browser.ts';

const MODES = [
  ['light', 1280],
  ['dark', 1280],
  ['light', 390],
  ['dark', 390],
] as const;
/** A folder for pictures of every page; without one they are looked at by axe alone. */
const PICTURES = process.env.PORTAL_PICTURES;
const HEIGHT = 900;
const DAYS = 18;

describe.skipIf(lacksChromium())('the pages of a customer in a browser', () => {
  let service: TestService;
  let browser: Browser;
  let story: Story;
  const below: Record<string, string> = {};

  /** A customer whose months were billed, with usage of every day, credits, limits and something overdue. */
  beforeAll(async () => {
    service = await startService();
    browser = await launch();
    story = await openStory(service, '2024-03-01T00:00:00Z');
    const { client } = story;
    const [entity] = (await client.get('/billing_entities')).body.billing_entities;
    await client.put(`/billing_entities/${entity.code}`, {
      billing_entity: { legal_name: 'Nimbus Cloud Inc.', email: 'billing@nimbus.example' },
    });
    await client.put(`/billing_entities/${entity.code}/portal`, {
      portal: {
        allow: { top_up: true, payment_methods: true, billing_data: true },
        support_url: 'https://nimbus.example/help',
        terms_url: 'https://nimbus.example/terms',
      },
    });
    await client.post('/payment_providers', {
      payment_provider: { type: 'sandbox', code: 'sandbox', name: 'Sandbox' },
    });
    await story.customer({
      name: 'Ada Analytics GmbH',
      email: 'ada@example.com',
      address_line1: 'Torstraße 1',
      city: 'Berlin',
      zipcode: '10119',
      country: 'DE',
      tax_identification_number: 'DE123456789',
      metadata: [{ key: 'Cost centre', value: '4711', display_in_invoice: true }],
      billing_configuration: {
        payment_provider: 'sandbox',
        payment_provider_code: 'sandbox',
        sync: true,
        sync_with_provider: true,
      },
    });
    const metric = async (code: string, name: string, fields: object) =>
      (await client.post('/billable_metrics', { billable_metric: { name, code, ...fields } })).body.billable_metric
        .svc_id;
    const calls = await metric('calls', 'API calls', { aggregation_type: 'sum_agg', field_name: 'n' });
    const seats = await metric('seats', 'Active users', { aggregation_type: 'unique_count_agg', field_name: 'user' });
    await client.post('/features', {
      feature: { code: 'calls', name: 'API calls', privileges: [{ code: 'max', name: 'Most', value_type: 'integer' }] },
    });
    await client.put('/features/calls/usage_limits', {
      usage_limits: [{ privilege_code: 'max', billable_metric_code: 'calls', period: 'billing_period' }],
    });
    await client.post('/features', {
      feature: {
        code: 'sso',
        name: 'Single sign-on',
        privileges: [{ code: 'on', name: 'SAML', value_type: 'boolean' }],
      },
    });
    await client.post('/taxes', { tax: { name: 'VAT', code: 'vat', rate: '19', applied_to_organization: true } });
    await story.plan({
      name: 'Scale',
      amount_cents: 4900,
      charges: [
        {
          billable_metric_id: calls,
          charge_model: 'graduated',
          properties: {
            graduated_ranges: [
              { from_value: 0, to_value: 1000, per_unit_amount: '0', flat_amount: '0' },
              { from_value: 1001, to_value: 10_000, per_unit_amount: '0.005', flat_amount: '0' },
              { from_value: 10_001, to_value: null, per_unit_amount: '0.003', flat_amount: '10' },
            ],
          },
        },
        {
          billable_metric_id: seats,
          charge_model: 'package',
          properties: { amount: '15', package_size: 5, free_units: 3 },
        },
      ],
    });
    const [plan] = (await client.get('/plans')).body.plans;
    await client.post(`/plans/${plan.code}/entitlements`, {
      entitlements: { calls: { max: 20_000 }, sso: { on: true } },
    });
    await story.subscribe({ name: 'Production' });
    await story.subscribe({ external_id: 'staging', name: 'Staging', ending_at: '2024-05-10T00:00:00Z' });
    const wallet = await client.post('/wallets', {
      wallet: {
        external_customer_id: 'acme',
        name: 'Prepaid',
        rate_amount: '1',
        currency: 'USD',
        granted_credits: '120',
        expiration_at: '2024-12-31T00:00:00Z',
      },
    });
    await client.post('/customers/acme/payment_methods', { payment_method: { card_number: '4242424242424242' } });
    await story.advanceTo('2024-04-01T01:00:00Z');
    await story.advanceTo('2024-04-18T12:00:00Z');
    const events = Array.from({ length: DAYS }, (_, day) => ({
      transaction_id: `t-${day}`,
      external_subscription_id: 'sub',
      code: 'calls',
      timestamp: Date.parse('2024-04-01T09:00:00Z') / 1000 + day * 86_400,
      properties: { n: 300 + ((day * 7919) % 700) },
    }));
    const users = Array.from({ length: 9 }, (_, n) => ({
      transaction_id: `u-${n}`,
      external_subscription_id: 'sub',
      code: 'seats',
      timestamp: Date.parse('2024-04-02T09:00:00Z') / 1000 + n * 86_400,
      properties: { user: `u${n % 6}` },
    }));
    await client.post('/events/batch', { events: [...events, ...users] });
    await client.post('/add_ons', {
      add_on: { name: 'Onboarding', code: 'setup', amount_cents: 25_000, amount_currency: 'USD' },
    });
    const oneOff = (currency: string) =>
      client.post('/invoices', {
        invoice: { external_customer_id: 'acme', currency, fees: [{ add_on_code: 'setup', units: 1 }], skip_psp: true },
      });
    const [late, open] = [await oneOff('USD'), await oneOff('USD')];
    await service.sql`
      update invoices set payment_overdue = true, payment_due_date = '2024-04-02', issuing_date = '2024-03-18'
      where id = ${late.body.invoice.svc_id}`;
    const paid = await oneOff('USD');
    await client.post('/payments', {
      payment: {
        invoice_id: paid.body.invoice.svc_id,
        amount_cents: paid.body.invoice.total_amount_cents,
        reference: 'x',
      },
    });
    await client.post('/credit_notes', {
      credit_note: {
        invoice_id: paid.body.invoice.svc_id,
        credit_amount_cents: 5950,
        items: [{ fee_id: paid.body.invoice.fees[0].svc_id, amount_cents: 5000 }],
      },
    });
    expect(open.status).toBe(200);
    await story.customer({ external_id: 'empty', name: 'Newcomer Ltd' });
    const subscription = (await client.get('/subscriptions/sub')).body.subscription;
    Object.assign(below, {
      overview: '',
      usage: `/usage/${subscription.svc_id}`,
      invoices: '/invoices',
      notes: '/credit_notes',
      receipts: '/receipts',
      wallet: `/wallets/${wallet.body.wallet.svc_id}`,
      methods: '/payment_methods',
      details: '/details',
    });
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  const unlimited = async () =>
    removeKeys(service.redis, await keysOf(service.redis, `${service.config.REDIS_PREFIX}:rl:portal*`));

  test.each(MODES)('every page is accessible and asks nobody else, in %s at %i pixels', async (colorScheme, width) => {
    const { page, context, complaints, foreign } = await openPage(browser, {
      colorScheme,
      viewport: { width, height: HEIGHT },
    });
    const own = await portalPath(story.client, 'acme');
    const empty = await portalPath(story.client, 'empty');
    const pages = [
      ...Object.entries(below).map(([name, path]) => [name, `${own}${path}`] as const),
      ['german', `${own}?lang=de`] as const,
      ['embedded', `${own}?embed=1`] as const,
      ['empty', empty] as const,
      ['empty-invoices', `${empty}/invoices`] as const,
      ['empty-methods', `${empty}/payment_methods`] as const,
    ];
    for (const [name, path] of pages) {
      await unlimited();
      const answer = await page.goto(`${service.url}${path}`);
      expect([name, answer!.status()]).toEqual([name, 200]);
      await expectAccessible(page, `${name} ${colorScheme} ${width}`);
      const overflow = await page.evaluate(
        'document.documentElement.scrollWidth > document.documentElement.clientWidth',
      );
      expect([name, width, overflow]).toEqual([name, width, false]);
      if (PICTURES) {
        mkdirSync(PICTURES, { recursive: true });
        await page.screenshot({ path: join(PICTURES, `${name}-${colorScheme}-${width}.png`), fullPage: true });
      }
    }
    expect([complaints, foreign]).toEqual([[], []]);
    await context.close();
  });

  test('a customer reviews a top-up and a wrong address without a pointer', async () => {
    await unlimited();
    const { page, context, complaints } = await openPage(browser);
    const own = await portalPath(story.client, 'acme');
    await page.goto(`${service.url}${own}${below.wallet}`);
    await page.getByLabel(/^Amount in USD/).fill('0');
    await page.keyboard.press('Enter');
    await page.getByText('The least amount is $0.01.').waitFor();
    await expectAccessible(page, 'a refused top-up');
    await page.getByLabel(/^Amount in USD/).fill('25');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Check your top-up' }).waitFor();
    await expectAccessible(page, 'a review');
    if (PICTURES) await page.screenshot({ path: join(PICTURES, 'review.png'), fullPage: true });
    await page.goto(`${service.url}${own}/details`);
    await page.getByLabel('Email').fill('nobody');
    await page.keyboard.press('Enter');
    await page.getByText('Please type email addresses').waitFor();
    await expectAccessible(page, 'refused details');
    if (PICTURES) await page.screenshot({ path: join(PICTURES, 'refused.png'), fullPage: true });
    expect(complaints).toEqual([]);
    await context.close();
    const notes = await visitPortal(service.url, `${own}/details`);
    const form = formIn(notes.text, 'language');
    expect((await sendForm(service.url, `${own}/details`, form, { locale: 'en' })).status).toBe(200);
  });
});
