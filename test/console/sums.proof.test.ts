import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildOnce } from '../support/build-once.ts';
import { type HookReceiver, openHookReceiver } from '../support/hook-receiver.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { ok } from '../support/words.ts';
import { expectAccessible, lacksChromium, launch, openPage } from './browser.ts';
import { type Company, openCompany } from './company.ts';

// What is read from sums: the volume of events, the trace of one, the health of an endpoint, the days of a wallet; and
// the rooms of what is sold once and what is agreed. Rules: event-volume.md, console-reads.md, console.md#pages.
const MODES = [
  ['light', 1280],
  ['dark', 1280],
  ['light', 390],
  ['dark', 390],
] as const;
const STORY_MS = 90_000;

describe.skipIf(lacksChromium())('rooms of the console that show sums', () => {
  let service: TestService;
  let browser: Browser;
  let company: Company;
  let hooks: HookReceiver;
  let endpointId: string;
  beforeAll(async () => {
    await buildOnce();
    hooks = await openHookReceiver();
    service = await startService({ settings: { RATE_LIMIT_CONSOLE: '1000' } });
    browser = await launch();
    company = await openCompany(service);
    const { webhook_endpoint } = await ok(
      company.client.post('/webhook_endpoints', {
        webhook_endpoint: { webhook_url: hooks.url, name: 'Shop', signature_algo: 'hmac' },
      }),
    );
    endpointId = webhook_endpoint.svc_id;
    await useWallet();
    // What the days before announced may all have been sent before there was an endpoint.
    await ok(company.client.post('/customers', { customer: { external_id: 'ada', name: 'Ada Analytics Ltd' } }));
    await until(async () => {
      const { body } = await company.client.get(`/webhook_endpoints/${endpointId}/health`);
      return body.health.succeeded > 0 || undefined;
    }, 120_000);
  }, 240_000);
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
    await hooks?.close();
  });

  /** Days on which the wallet of nevada pays for its usage. */
  async function useWallet(): Promise<void> {
    for (const [day, calls] of [
      ['06', 3],
      ['07', 5],
      ['08', 2],
      ['09', 6],
    ] as const) {
      for (let call = 0; call < calls; call += 1)
        await company.use('calls', {}, { by: 'nevada-1', at: `2030-02-${day}T10:00:00Z` });
      await company.advanceTo(`2030-02-${day}T20:00:00Z`);
    }
  }

  async function signIn(page: Page): Promise<string> {
    await page.goto(`${service.url}/console`);
    await page.getByLabel('API key').fill(company.apiKey);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.locator('header.page h1').waitFor();
    return page.url().replace(/\/home.*$/, '');
  }

  const story = (name: string, tell: (page: Page, root: string) => Promise<void>) =>
    test(
      name,
      async () => {
        const { page, context, complaints, foreign } = await openPage(browser, {
          viewport: { width: 1280, height: 900 },
        });
        page.setDefaultTimeout(STORY_MS / 3);
        await tell(page, await signIn(page));
        expect([complaints, foreign]).toEqual([[], []]);
        await context.close();
      },
      STORY_MS,
    );
  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).first().click();
  const send = (page: Page, name: string) => page.locator('dialog').getByRole('button', { name, exact: true }).click();
  const gone = (page: Page) => page.locator('dialog').waitFor({ state: 'detached' });

  story('the explorer of events shows how many came, and what one of them did', async (page, root) => {
    await page.goto(`${root}/events`);
    await page.locator('.figure', { hasText: 'Stored' }).getByText('24', { exact: true }).waitFor();
    await page.getByText('Events by minute').waitFor();
    await press(page, 'Last day');
    await page.getByText('Events by hour').waitFor();
    await page.locator('main a[data-row]').first().click();
    await page.getByRole('heading', { name: 'What this event did' }).waitFor();
    await page.getByText('counted', { exact: true }).waitFor();
    await page.getByRole('region', { name: 'Charges that count it' }).getByText('not billed yet').waitFor();
  });

  story('an event of a billed period leads to its invoice', async (page, root) => {
    const { events } = await ok(company.client.get('/events?external_subscription_id=ada-1&per_page=1'));
    await page.goto(`${root}/events/${encodeURIComponent(events[0].transaction_id)}`);
    await page.getByRole('region', { name: 'Charges that count it' }).getByRole('link').first().click();
    await page.getByRole('heading', { name: 'From fees to the amount due' }).waitFor();
  });

  story('an endpoint shows how well it answers', async (page, root) => {
    await page.goto(`${root}/webhooks`);
    await page.getByRole('cell', { name: /100 %/ }).waitFor();
    await page.locator('main a[data-row]').first().click();
    await page.locator('.figure', { hasText: 'Acknowledged' }).getByText('100 %').waitFor();
    await page.getByText('Deliveries that ended, by hour').waitFor();
  });

  story('a wallet says how long it lasts', async (page, root) => {
    await page.goto(`${root}/wallets/${company.walletId}`);
    await page.getByRole('heading', { name: 'How it is used up' }).waitFor();
    await page.getByText('Balance after usage, by day').waitFor();
    await page
      .locator('.figure', { hasText: 'Lasts for' })
      .getByText(/^\d+ days$/)
      .waitFor();
    await press(page, 'As table');
    await page.getByRole('columnheader', { name: 'topped up' }).waitFor();
    await page.goto(`${root}/wallets?status=ending`);
    await page.getByText('Nothing is like that').waitFor();
  });

  story('an add-on is made, changed and billed', async (page, root) => {
    await page.goto(`${root}/add-ons`);
    await page.getByText('No add-ons yet').waitFor();
    await press(page, 'New add-on');
    await page.getByLabel('Name', { exact: true }).fill('Set-up');
    await page.getByLabel('Code', { exact: true }).fill('setup');
    await page.getByLabel('Amount').fill('99.50');
    await page.getByLabel('Currency').fill('usd');
    await send(page, 'Create add-on');
    await page.getByRole('heading', { name: 'Set-up' }).waitFor();
    await page.getByText('$99.50').first().waitFor();
    await press(page, 'Bill a customer');
    await page.getByLabel('Customer', { exact: true }).fill('zed');
    await page.getByLabel('Units').fill('2');
    await send(page, 'Make the invoice');
    await page.getByText('$199.00').first().waitFor();
  });

  story('a quote of two parts is made, changed, approved, signed and carried out', async (page, root) => {
    await page.goto(`${root}/quotes`);
    await page.getByRole('link', { name: 'New quote' }).click();
    await page.getByLabel('Customer', { exact: true }).fill('ada');
    await page.getByLabel('Kind').selectOption('one_off');
    await press(page, 'Add an add-on');
    await page.getByLabel('Units').fill('1.5');
    await press(page, 'Add an add-on');
    await page.getByLabel('Price of a unit').last().fill('10');
    await page.getByText('All together $159.25').waitFor();
    await expectAccessible(page, 'the editor of quotes');
    await press(page, 'Create …');
    await send(page, 'Create quote');
    await page.getByRole('heading', { name: 'Version 1' }).waitFor();
    const offered = page.getByRole('region', { name: 'Version 1' });
    await offered.getByRole('link', { name: 'setup' }).first().waitFor();
    expect(await offered.locator('td.number').allTextContents()).toEqual(['$149.25', '$10.00', '$159.25']);
    await page.getByRole('link', { name: 'Edit', exact: true }).click();
    await page.getByLabel('Units').last().fill('3');
    await page.getByText('All together $179.25').waitFor();
    await press(page, 'Save …');
    await send(page, 'Save');
    await page.getByRole('heading', { name: 'Version 1' }).waitFor();
    await press(page, 'Approve');
    await send(page, 'Approve');
    await gone(page);
    await press(page, 'Mark as signed');
    await send(page, 'Mark as signed');
    await gone(page);
    // The hourly job carries it out; nobody has to wait for that.
    await press(page, 'Carry out');
    await send(page, 'Carry out');
    await gone(page);
    await page.getByRole('region', { name: 'Orders' }).getByRole('link', { name: 'Invoice' }).click();
    await page.getByText('$179.25').first().waitFor();
    await page.goto(`${root}/quotes?show=forms`);
    await page.getByRole('region', { name: 'Order forms' }).getByText('signed', { exact: true }).waitFor();
  });

  const pages = () => [
    'home',
    'events',
    'events?span=month',
    'webhooks',
    `webhooks/${endpointId}`,
    `wallets/${company.walletId}`,
    'add-ons',
    'add-ons/setup',
    'quotes',
    'quotes?show=forms',
    'quotes?show=orders',
  ];

  test.each(MODES)(
    'these rooms are accessible in %s colours at %i pixels, and ask nothing from elsewhere',
    { timeout: 400_000 },
    async (colorScheme, width) => {
      const { page, context, complaints, foreign } = await openPage(browser, {
        colorScheme,
        viewport: { width, height: 900 },
      });
      const root = await signIn(page);
      const { quotes } = await ok(company.client.get('/quotes'));
      const { events } = await ok(company.client.get('/events?per_page=1'));
      for (const each of [...pages(), `quotes/${quotes[0].svc_id}`, `events/${events[0].transaction_id}`]) {
        await page.goto(`${root}/${each}`);
        await page.locator('header.page h1').waitFor();
        await until(async () => (await page.locator('[aria-busy]').count()) === 0 || undefined);
        await expectAccessible(page, each);
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), each).toBe(true);
      }
      expect([complaints, foreign]).toEqual([[], []]);
      await context.close();
    },
  );
});
