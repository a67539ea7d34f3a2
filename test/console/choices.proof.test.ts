import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildOnce } from '../support/build-once.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { ok } from '../support/words.ts';
import { expectAccessible, lacksChromium, launch, openPage } from './browser.ts';

// What names a record, a country or a zone is chosen by its name, never typed as a code.
describe.skipIf(lacksChromium())('choices of the console', () => {
  let service: TestService;
  let browser: Browser;
  let org: Awaited<ReturnType<TestService['org']>>;
  beforeAll(async () => {
    await buildOnce();
    service = await startService({ settings: { RATE_LIMIT_CONSOLE: '1000' } });
    browser = await launch();
    org = await service.org({ name: 'Choices' });
    for (const [name, code] of [
      ['VAT 19 %', 'vat19'],
      ['VAT 7 %', 'vat7'],
      ['City, local', 'city, local'],
    ])
      await ok(org.post('/taxes', { tax: { name, code, rate: '5' } }));
    await ok(
      org.post('/plans', {
        plan: {
          name: 'Team',
          code: 'team',
          interval: 'monthly',
          amount_cents: 100,
          amount_currency: 'EUR',
          pay_in_advance: false,
          tax_codes: ['vat7', 'city, local'],
        },
      }),
    );
    for (const [external_id, name] of [
      ['c-1', 'Ada Analytics'],
      ['c-2', 'Nevada Ltd'],
    ])
      await ok(org.post('/customers', { customer: { external_id, name, email: `${external_id}@example.com` } }));
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  async function open(path: string) {
    const { page, context, complaints, foreign } = await openPage(browser);
    await page.goto(`${service.url}/console`);
    await page.getByLabel('API key').fill(org.organization.api_key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.locator('header.page h1').waitFor();
    await page.goto(`${page.url().replace(/\/home.*$/, '')}/${path}`);
    const end = async () => {
      expect([complaints, foreign]).toEqual([[], []]);
      await context.close();
    };
    return { page, end };
  }

  const option = (page: Page, name: string | RegExp) => page.getByRole('option', { name, exact: true });

  test('the taxes of a plan are chosen from those that there are, also where a code has a comma', async () => {
    const { page, end } = await open('plans/team/edit');
    await page.getByRole('button', { name: 'VAT 7 %, 5 %' }).click();
    await page.getByLabel('Taxes').fill('19');
    await option(page, 'VAT 19 %, 5 % vat19').waitFor();
    await expectAccessible(page, 'an open list');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'VAT 19 %, 5 %' }).waitFor();
    await page.getByRole('button', { name: 'Save …' }).click();
    await page.getByText('Taxes, of invoices that are not final').waitFor();
    await page.locator('dialog').getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('heading', { name: 'Team', level: 1, exact: true }).waitFor();
    const { plan } = await ok(org.get('/plans/team'));
    expect(plan.taxes.map(({ code }: { code: string }) => code).sort()).toEqual(['city, local', 'vat19']);
    await end();
  });

  test('country, currency, time zone and language of the organization are found by their names', async () => {
    const { page, end } = await open('settings');
    const choose = async (label: string, typed: string, name: string) => {
      await page.getByLabel(label, { exact: true }).fill(typed);
      await option(page, name).click();
    };
    await choose('Country', 'switz', 'Switzerland CH');
    await choose('Currency', 'swiss', 'Swiss Franc CHF');
    await choose('Language of documents', 'germ', 'German de');
    await page.getByLabel('Time zone').fill('zuri');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    expect(await page.getByLabel('Time zone').inputValue()).toMatch(/^Europe\/Zurich \(UTC\+[12]\)$/);
    // What is nothing of the list does not stay.
    await page.getByLabel('Country').fill('Narnia');
    await page.getByText('Nothing like that').waitFor();
    await page.keyboard.press('Tab');
    expect(await page.getByLabel('Country').inputValue()).toBe('Switzerland (CH)');
    await page.getByRole('button', { name: 'Save' }).click();
    await until(async () => (await org.get('/organizations')).body.organization.country === 'CH' || undefined);
    const { organization } = await ok(org.get('/organizations'));
    expect(organization).toMatchObject({
      default_currency: 'CHF',
      timezone: 'Europe/Zurich',
      billing_configuration: { document_locale: 'de' },
    });
    await end();
  });

  test('a customer is found by name, mail or id, in forms and in filters', async () => {
    const { page, end } = await open('wallets');
    await page.getByRole('button', { name: 'New wallet' }).click();
    const customer = page.locator('dialog').getByLabel('Customer', { exact: true });
    await customer.fill('c-1@example');
    await option(page, 'Ada Analytics c-1').click();
    expect(await customer.inputValue()).toBe('Ada Analytics (c-1)');
    // Escape closes the list first, and the window only then.
    await customer.click();
    await option(page, 'Nevada Ltd c-2').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('listbox').waitFor({ state: 'detached' });
    await page.locator('dialog').getByLabel('Currency').fill('eur');
    await page.locator('dialog').getByRole('button', { name: 'Create wallet' }).click();
    await page.waitForURL(/\/wallets\/[0-9a-f-]{36}$/);
    await page.getByRole('link', { name: 'Wallets', exact: true }).first().click();
    await page.getByLabel('Customer', { exact: true }).fill('nevada');
    await option(page, 'Nevada Ltd c-2').click();
    await page.waitForURL(/\?customer=c-2$/);
    await page
      .getByText('Nothing is like that')
      .or(page.getByRole('button', { name: 'c-2' }))
      .first()
      .waitFor();
    await end();
  });
});
