import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildOnce } from '../support/build-once.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { ok } from '../support/words.ts';
import { lacksChromium, launch, openPage } from './browser.ts';

// The parts of the room "settings" that have a form of their own.
describe.skipIf(lacksChromium())('settings of the console', () => {
  let service: TestService;
  let browser: Browser;
  let org: Awaited<ReturnType<TestService['org']>>;
  beforeAll(async () => {
    await buildOnce();
    service = await startService({ settings: { RATE_LIMIT_CONSOLE: '1000' } });
    browser = await launch();
    org = await service.org({ sandbox: true, name: 'Settings' });
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  const part = (title: string, name: string, play: (page: Page) => Promise<void>) =>
    test(title, async () => {
      const { page, context, complaints, foreign } = await openPage(browser);
      await page.goto(`${service.url}/console`);
      await page.getByLabel('API key').fill(org.organization.api_key);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.locator('header.page h1').waitFor();
      await page.getByRole('navigation', { name: 'Rooms' }).getByRole('link', { name: 'Settings' }).click();
      await page
        .getByRole('navigation', { name: 'Parts of this page' })
        .getByRole('link', { name, exact: true })
        .click();
      await play(page);
      expect([complaints, foreign]).toEqual([[], []]);
      await context.close();
    });

  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).first().click();
  const send = (page: Page, name: string) =>
    page.locator('dialog').getByRole('button', { name, exact: true }).last().click();

  part('a section that invoices carry is made and changed', 'Custom sections', async (page) => {
    await page.getByText('No custom sections yet').waitFor();
    await press(page, 'New section');
    await page.locator('dialog').getByLabel('Name').fill('Bank account');
    await page.locator('dialog').getByLabel('Code').fill('bank');
    await page.getByLabel('Text on the invoice').fill('IBAN DE00');
    await send(page, 'Create section');
    await page.getByRole('cell', { name: 'IBAN DE00' }).waitFor();
    await press(page, 'Edit');
    await page.getByLabel('Title on the invoice').fill('Pay to');
    await send(page, 'Save');
    await page.getByRole('cell', { name: 'Pay to IBAN DE00' }).waitFor();
  });

  part('what customers see and may do is said, each part by itself', 'Customer portal', async (page) => {
    const section = (title: string) => page.locator('section', { hasText: title });
    await page.getByLabel('Accent colour').fill('#e91e63');
    await section('Looks').getByRole('button', { name: 'Save' }).click();
    await page.getByLabel('Buy credits').check();
    await section('What customers may do').getByRole('button', { name: 'Save' }).click();
    await page.getByLabel('Sites').fill('https://app.example.com\nsomewhere');
    await section('In pages of yours').getByRole('button', { name: 'Save' }).click();
    await page.getByText('Some values were refused.').waitFor();
    await page.getByLabel('Sites').fill('https://app.example.com\n');
    await section('In pages of yours').getByRole('button', { name: 'Save' }).click();
    const { billing_entities } = await ok(org.get('/billing_entities'));
    const { code } = billing_entities[0];
    await until(async () => {
      const { portal } = (await org.get(`/billing_entities/${code}/portal`)).body;
      return portal.embed_origins.length === 1 || undefined;
    });
    const { portal } = await ok(org.get(`/billing_entities/${code}/portal`));
    expect(portal).toMatchObject({
      accent_color: '#e91e63',
      allow: { pay: true, top_up: true, billing_data: false },
      embed_origins: ['https://app.example.com'],
    });
  });

  part('the sender of mails is set here too', 'Mails', async (page) => {
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
    await page.getByLabel('Name', { exact: true }).waitFor();
  });

  part('the secret of webhooks is shown when it is asked for, and replaced', 'Webhook keys', async (page) => {
    const { webhook } = await ok(org.get('/webhooks/hmac_key'));
    await page.getByText('-----BEGIN PUBLIC KEY-----').waitFor();
    expect(await page.getByText(webhook.hmac_key).count()).toBe(0);
    await press(page, 'Show the secret');
    await page.getByText(webhook.hmac_key).waitFor();
    await press(page, 'New secret');
    await page.locator('dialog').getByLabel('Type rotate', { exact: false }).fill('rotate');
    await send(page, 'New secret');
    await page.getByText('The former secret also signs until').waitFor();
    const now = await ok(org.get('/webhooks/hmac_key'));
    expect(now.webhook.hmac_key).not.toBe(webhook.hmac_key);
    await page.getByText(now.webhook.hmac_key).waitFor();
  });

  part('a provider is connected, and its secret stands in no line that is shown', 'Payment providers', async (page) => {
    await press(page, 'Connect a provider');
    await page.getByLabel('Provider', { exact: true }).selectOption('sandbox');
    await page.getByLabel('Webhook secret').fill('whsec-hidden');
    await page.locator('dialog summary').click();
    const line = await page.locator('dialog .curl pre').textContent();
    expect(line).toContain('"webhook_secret":"$SECRET"');
    expect(await page.locator('dialog').textContent()).not.toContain('whsec-hidden');
    await send(page, 'Connect Sandbox (test payments)');
    await page.getByRole('cell', { name: 'Sandbox (test payments), behaves like Stripe' }).waitFor();
  });
});
