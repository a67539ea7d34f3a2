import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildOnce } from '../support/build-once.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { ok } from '../support/words.ts';
import { expectAccessible, expectWholeWords, lacksChromium, launch, MODES, openPage } from './browser.ts';
import { type Company, openCompany } from './company.ts';

/** Rooms and parts of them that an organization without a record shows. */
const EMPTY = [
  'home',
  'customers',
  'subscriptions',
  'invoices',
  'credit-notes',
  'payments',
  'payments?show=requests',
  'payments?show=campaigns',
  'wallets',
  'quotes',
  'plans',
  'plans/new',
  'metrics',
  'add-ons',
  'features',
  'coupons',
  'events',
  'webhooks',
  'logs',
  'logs?show=api',
  'mails',
  'audit',
  'settings/entities',
  'settings/taxes',
  'settings/sections',
  'settings/providers',
];

// Pages that no story opens: of single records, and of an organization that has none.
describe.skipIf(lacksChromium())('pages of the console', () => {
  let service: TestService;
  let browser: Browser;
  let company: Company;
  let details: string[];
  beforeAll(async () => {
    await buildOnce();
    service = await startService({ settings: { RATE_LIMIT_CONSOLE: '1000' } });
    browser = await launch();
    company = await openCompany(service);
    details = await detailsOf(company);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  test.each(MODES)(
    'of records, and of none, in %s colours at %i pixels',
    async (colorScheme, width) => {
      const { organization } = await service.org();
      for (const [apiKey, paths] of [
        [company.apiKey, details],
        [organization.api_key, EMPTY],
      ] as const) {
        const { page, context, complaints } = await openPage(browser, {
          colorScheme,
          viewport: { width, height: 900 },
        });
        const root = await signIn(page, `${service.url}/console`, apiKey);
        for (const each of paths) {
          await page.goto(`${root}/${each}`);
          await page.locator('header.page h1').waitFor();
          await until(async () => (await page.locator('[aria-busy]').count()) === 0 || undefined);
          await expectAccessible(page, each);
          await expectWholeWords(page, each);
          expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), each).toBe(true);
        }
        expect(complaints).toEqual([]);
        await context.close();
      }
    },
    600_000,
  );
});

async function detailsOf({ client }: Company): Promise<string[]> {
  const { quote } = await ok(
    client.post('/quotes', {
      quote: { external_customer_id: 'ada', order_type: 'subscription_creation', name: 'Ada' },
    }),
  );
  const idOf = (list: string, key = 'svc_id'): Promise<string> =>
    until(async () => (await ok(client.get(`/${list}`)))[list][0]?.[key]);
  return [
    `events/${await idOf('events', 'transaction_id')}`,
    `payments/${await idOf('payments')}`,
    `quotes/${quote.svc_id}`,
    'quotes',
    'metrics/calls',
    'clock',
    'logs',
    'logs?show=security',
    'customers/ada/invoices',
    'customers/ada/details',
  ];
}

async function signIn(page: Page, console: string, apiKey: string): Promise<string> {
  await page.goto(console);
  await page.getByLabel('API key').fill(apiKey);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('header.page h1').waitFor();
  return page.url().replace(/\/home.*$/, '');
}
