import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operations } from '../../src/operations.ts';
import { buildOnce } from '../support/build-once.ts';
import { startService, type TestService } from '../support/service.ts';
import { expectAccessible, lacksChromium, launch, openPage } from './browser.ts';

const MODES = [
  ['light', 1280],
  ['dark', 1280],
  ['light', 390],
  ['dark', 390],
] as const;
const PAGES = [
  '/docs',
  '/docs/api',
  '/docs/api/plans',
  '/docs/api/event_types',
  '/docs/guide',
  '/docs/guide/first-invoice',
  '/docs/guide/webhooks-and-feed',
  '/docs/errors',
  '/docs/operations',
];
/** A folder for pictures of every page; without one they are looked at by axe alone. */
const PICTURES = process.env.DOCS_PICTURES;
const HEIGHT = 900;

describe.skipIf(lacksChromium())('the documentation in a browser', () => {
  let service: TestService;
  let browser: Browser;

  beforeAll(async () => {
    await buildOnce();
    service = await startService({ pools: [], operations });
    browser = await launch();
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  test.each(PAGES)(
    '%s is accessible in light and dark, on wide and small screens, and fits them',
    async (path) => {
      for (const [colorScheme, width] of MODES) {
        const { context, page, complaints, foreign } = await openPage(browser, {
          colorScheme,
          viewport: { width, height: HEIGHT },
        });
        await page.goto(service.url + path);
        const where = `${path} ${colorScheme} ${width}`;
        await expectAccessible(page, where);
        expect(await page.evaluate('document.documentElement.scrollWidth'), where).toBeLessThanOrEqual(width);
        expect({ complaints, foreign }, where).toEqual({ complaints: [], foreign: [] });
        if (PICTURES) {
          mkdirSync(PICTURES, { recursive: true });
          await page.screenshot({ path: join(PICTURES, `${path.replaceAll('/', '_')}-${colorScheme}-${width}.png`) });
        }
        await context.close();
      }
    },
    120_000,
  );

  test('every page fits a phone', async () => {
    const { context, page } = await openPage(browser, { viewport: { width: 375, height: HEIGHT } });
    await page.goto(`${service.url}/docs`);
    const links = await page.evaluate<string[]>(`[...document.querySelectorAll('#menu a')].map(({ href }) => href)`);
    const wide: string[] = [];
    for (const link of links.filter((each) => !each.endsWith('/docs/try'))) {
      await page.goto(link);
      if (!(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'))) wide.push(link);
    }
    expect(wide).toEqual([]);
    await context.close();
  }, 120_000);

  test('the search leads to an operation by the keyboard alone', async () => {
    const { context, page, complaints } = await openPage(browser);
    await page.goto(`${service.url}/docs`);
    await page.keyboard.press('/');
    await page.keyboard.type('create a coupon');
    await page.getByRole('option').first().waitFor();
    await expectAccessible(page, 'the search');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/api/coupons#createCoupon');
    expect(complaints).toEqual([]);
    await context.close();
  });

  test('what is copied holds the key that the reader gave, and the page keeps $KEY', async () => {
    const { context, page } = await openPage(browser, { permissions: ['clipboard-read', 'clipboard-write'] });
    await page.goto(`${service.url}/docs/api/coupons`);
    await page.getByLabel('Key of your sandbox').fill('my-key');
    await page.locator('.operation .copy').first().click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(copied).toContain('Bearer my-key');
    expect(copied).toContain('/api/v1/coupons');
    expect(await page.locator('pre').first().textContent()).toContain('$KEY');
    await context.close();
  });

  test('every page can be read without a script', async () => {
    const { context, page } = await openPage(browser, { javaScriptEnabled: false });
    await page.goto(`${service.url}/docs/guide/first-invoice`);
    await page.getByRole('navigation', { name: 'Contents' }).getByRole('link', { name: 'Events', exact: true }).click();
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Events');
    expect(await page.getByRole('search').isVisible()).toBe(false);
    await context.close();
  });

  test('the page for trying requests and the queue board load nothing from elsewhere', async () => {
    for (const path of ['/docs/try', '/queues']) {
      const { context, page, complaints, foreign } = await openPage(browser);
      await page.goto(service.url + path, { waitUntil: 'networkidle' });
      expect({ path, complaints, foreign }).toEqual({ path, complaints: [], foreign: [] });
      await context.close();
    }
  });
});
