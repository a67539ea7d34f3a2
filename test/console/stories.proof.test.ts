import type { Browser, Page } from 'playwright-core';
import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeOneTimeLink } from '../../src/areas/tenancy/console-sessions/one-time-links.ts';
import { buildOnce } from '../support/build-once.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { expectAccessible, expectWholeWords, lacksChromium, launch, MODES, openPage } from './browser.ts';

const OPERATOR_TOKEN = 'the operator of the stories, 32 chars';
describe.skipIf(lacksChromium())('the console in a browser', () => {
  let service: TestService;
  let browser: Browser;
  let org: Awaited<ReturnType<TestService['org']>>;
  let invoiceId: string;
  beforeAll(async () => {
    await buildOnce();
    service = await startService({ settings: { OPERATOR_TOKEN, RATE_LIMIT_CONSOLE: '1000' } });
    browser = await launch();
    org = await service.org({ sandbox: true, name: 'First Hour' });
    await org.post('/test_clock', { test_clock: { frozen_time: '2030-01-01T00:00:00Z' } });
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  async function signIn(page: Page, apiKey = org.organization.api_key): Promise<string> {
    await page.goto(`${service.url}/console`);
    await page.getByLabel('API key').fill(apiKey);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.locator('header.page h1').waitFor();
    return page.url().replace(/\/home.*$/, '');
  }

  test('somebody who begins with a key reads a correct invoice of own prices within 45 actions', async () => {
    const { page, context, complaints, foreign } = await openPage(browser);
    let actions = 0;
    const click = async (name: string | RegExp, role: 'button' | 'link' = 'button') => {
      actions += 1;
      await page
        .getByRole(role, { name, exact: typeof name === 'string' })
        .first()
        .click();
    };
    const fill = async (label: string, text: string) => {
      actions += 1;
      await page.getByLabel(label, { exact: true }).fill(text);
    };
    await page.goto(`${service.url}/console`);
    await fill('API key', org.organization.api_key);
    await click('Sign in');
    await page.getByRole('heading', { name: 'From nothing to the first invoice' }).waitFor();

    await click('Make a metric', 'link');
    await click('New metric');
    await fill('Name', 'API calls');
    await fill('Code', 'calls');
    await click('Create metric');
    await page.getByRole('link', { name: 'API calls' }).waitFor();

    await click('Plans', 'link');
    await click('New plan', 'link');
    await fill('Name', 'Starter');
    await fill('Code', 'starter');
    await fill('Fee of a period', '10');
    await click('Add a charge');
    await fill('Price of a unit', '0.05');
    expect(await page.getByText('cost $50.00').isVisible()).toBe(true);
    await click('Create …');
    await click('Create plan');
    await page.getByRole('heading', { name: 'Starter' }).waitFor();
    await page.getByText('$0.05 for each unit').waitFor();

    await click('Customers', 'link');
    await click('New customer');
    await fill('External id', 'ada');
    await fill('Name', 'Ada');
    await click('Create customer');
    await click('Ada', 'link');
    await page.getByRole('heading', { name: 'Ada' }).waitFor();
    await click('Subscribe');
    await page.getByLabel('External id of the subscription').waitFor();
    actions += 1;
    await page.locator('dialog').getByRole('button', { name: 'Subscribe' }).click();
    await page.getByRole('heading', { name: 'ada-1' }).waitFor();

    await click('Send a test event');
    await click('Send');
    await page.locator('.figure b').getByText('$0.05').waitFor({ timeout: 60_000 });

    await click('+1 month');
    await page.getByText('Feb 1, 2030, 12:00 AM UTC').waitFor({ timeout: 60_000 });
    await click('+1 day');
    await page.getByText('Feb 2, 2030, 12:00 AM UTC').waitFor({ timeout: 60_000 });
    await click('Invoices', 'link');
    actions += 1;
    await page.locator('main a[data-row]').first().click();
    await page.getByText('$10.05 to').waitFor();
    invoiceId = page.url().split('/').at(-1)!;
    await click(/^Why \$0\.05/);
    await page.getByText('recomputed: equal').waitFor();
    expect(actions).toBeLessThanOrEqual(45);
    expect([complaints, foreign]).toEqual([[], []]);
    const { body } = await org.get(`/invoices/${invoiceId}`);
    expect(body.invoice).toMatchObject({ status: 'finalized', total_amount_cents: 1005 });
    await context.close();
  });

  test('an empty sandbox is filled with an example of two months by one button', { timeout: 300_000 }, async () => {
    const empty = await service.org({ sandbox: true, name: 'Example' });
    const { page, context, complaints, foreign } = await openPage(browser);
    context.setDefaultTimeout(240_000);
    await signIn(page, empty.organization.api_key);
    const fill = page.getByRole('button', { name: 'Fill this sandbox with an example' });
    await fill.waitFor();
    expect(await page.locator('.steps-list > li').count()).toBe(6);
    await fill.click();
    await page.getByRole('heading', { name: 'From nothing to the first invoice' }).waitFor({ state: 'detached' });
    await page.getByText('Revenue this month').waitFor();
    expect([complaints, foreign]).toEqual([[], []]);
    const [customers, invoices, payments] = await Promise.all(
      ['customers', 'invoices', 'payments'].map(async (list) => (await empty.get(`/${list}?per_page=100`)).body[list]),
    );
    expect([customers.length, invoices.length, payments.length]).toEqual([12, 24, 10]);
    expect(new Set(invoices.map(({ status }: { status: string }) => status))).toEqual(new Set(['finalized']));
    await context.close();
  });

  test('a payment recorded by a double click is one payment', async () => {
    const { page, context } = await openPage(browser);
    const root = await signIn(page);
    await page.goto(`${root}/invoices/${invoiceId}`);
    await page.getByRole('button', { name: 'Record a payment' }).click();
    await page.getByLabel('Reference').fill('Bank transfer');
    await page.getByRole('button', { name: 'Record', exact: true }).dblclick();
    await page.locator('h1').getByText('paid').waitFor();
    const { body } = await org.get(`/payments?invoice_id=${invoiceId}`);
    expect(body.payments).toHaveLength(1);
    await context.close();
  });

  test('a one-time link signs in, also in a tab that shows the console, and keeps what it is signed in to', async () => {
    const other = await service.org({ name: 'Another' });
    const link = async (organization: string) =>
      (await makeOneTimeLink(service.sql, { organization }, Temporal.Now.instant())).path;
    const { page, context } = await openPage(browser);
    await page.goto(`${service.url}/console`);
    await page.getByLabel('API key').waitFor();
    const first = await link('First Hour');
    // The address differs in its fragment alone, so the browser loads nothing.
    await page.goto(service.url + first);
    await page.getByRole('heading', { name: 'First Hour', level: 1 }).waitFor();
    expect(page.url()).not.toContain('enter=');
    await page.goto(service.url + (await link(other.organization.organization_id)));
    await page.getByRole('heading', { name: 'Another', level: 1 }).waitFor();
    // The link of an organization that is signed in to already leads there.
    await page.goto(service.url + (await link('First Hour')));
    await page.getByRole('heading', { name: 'First Hour', level: 1 }).waitFor();
    await page.locator('.switch summary').click();
    await page.locator('.switch .sheet').getByRole('link', { name: 'Another' }).waitFor();
    await page.goto(service.url + first);
    await page.getByText('This link was used already or is older than 10 minutes.').waitFor();
    await context.close();
  });

  test('what is refused stands beside its field, and what was typed stays', async () => {
    const { page, context } = await openPage(browser);
    const root = await signIn(page);
    await page.goto(`${root}/customers`);
    await page.getByRole('button', { name: 'New customer' }).click();
    await page.getByLabel('External id').fill('bob');
    await page.locator('dialog').getByLabel('Email').fill('nobody');
    await page.getByRole('button', { name: 'Create customer' }).click();
    await page.getByText('Some values were refused.').waitFor();
    const email = page.locator('dialog').getByLabel('Email');
    expect(await email.getAttribute('aria-invalid')).toBe('true');
    expect([await email.inputValue(), await page.getByLabel('External id').inputValue()]).toEqual(['nobody', 'bob']);
    await context.close();
  });

  test('what is typed right after the key of the search stands in it, however slow frames are', async () => {
    const { page, context } = await openPage(browser);
    await page.addInitScript('window.requestAnimationFrame = (paint) => setTimeout(paint, 1000)');
    await signIn(page);
    await page.keyboard.press('/');
    await page.keyboard.type('ada-1');
    expect(await page.locator('.search-input').inputValue()).toBe('ada-1');
    await page.getByRole('option', { name: 'ada-1' }).waitFor();
    await context.close();
  });

  test('a key that may only read customers sees the rooms home and customers, and no button (CO23)', async () => {
    const made = await org.post('/api_keys', { api_key: { permissions: { customer: ['read'] } } });
    const { page, context } = await openPage(browser);
    const root = await signIn(page, made.body.api_key.value);
    // CO27: what the key may not read is not found.
    await page.keyboard.press('/');
    await page.keyboard.type('ada-1');
    await page.getByText('Nothing found for “ada-1”.').waitFor();
    await page.keyboard.press('Escape');
    const rooms = await page.getByRole('navigation', { name: 'Rooms' }).locator('li a').allInnerTexts();
    expect(rooms).toEqual(['Home', 'Customers']);
    await page.goto(`${root}/customers/ada`);
    await page.getByRole('heading', { name: 'Ada' }).waitFor();
    expect(await page.getByRole('button', { name: /Edit|Delete|Subscribe/ }).count()).toBe(0);
    await page.goto(`${root}/invoices`);
    await page.getByText('This room needs the permission invoice:read.').waitFor();
    await org.delete(`/api_keys/${made.body.api_key.svc_id}`);
    await page.goto(`${root}/customers`);
    await page
      .getByRole('heading', { name: 'Add an organization' })
      .or(page.getByText('Sign in to Meterstone'))
      .waitFor();
    await context.close();
  });

  test('a session that ends while a page is open asks above it, and goes on', async () => {
    const { page, context } = await openPage(browser);
    const root = await signIn(page);
    await page.goto(`${root}/customers`);
    await page.getByRole('link', { name: 'Ada' }).waitFor();
    await page.waitForLoadState('networkidle'); // what the list reads after its rows would be refused first
    await service.sql`update console_sessions set ended_at = now()`;
    await page.getByRole('link', { name: 'Plans' }).click();
    await page.getByText('Your session has ended').waitFor();
    await page.locator('dialog').getByLabel('API key').fill(org.organization.api_key);
    await page.locator('dialog').getByRole('button', { name: 'Sign in' }).click();
    await page.locator('dialog').waitFor({ state: 'detached' });
    // The page that was refused is read again.
    await page.getByRole('link', { name: 'Starter' }).waitFor();
    await page.getByRole('link', { name: 'Customers', exact: true }).click();
    await page.getByRole('link', { name: 'Ada' }).waitFor();
    await context.close();
  });

  test('rooms, search and lists are reached without a pointer', async () => {
    const { page, context } = await openPage(browser);
    await signIn(page);
    await page.keyboard.press('g');
    await page.keyboard.press('c');
    await page.getByRole('heading', { name: 'Customers', exact: true }).waitFor();
    await page.getByRole('link', { name: 'Ada' }).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Ada' }).waitFor();
    const searching = page.locator('[role=combobox]:focus');
    await page.keyboard.press('/');
    await searching.waitFor();
    await page.keyboard.type('ADA');
    // CO26: the customer that is called so stands before its subscription, which only begins with it.
    await page.getByRole('option', { name: /^Ada Customer · ada/ }).waitFor();
    expect(await page.locator('#hits li').nth(1).textContent()).toMatch(/^ada-1Subscription · ada-1/);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'ada-1' }).waitFor();
    await page.keyboard.press('/');
    await searching.waitFor();
    await page.keyboard.type('Invoices');
    await page.getByRole('option', { name: /^Invoices/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Invoices', exact: true }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('heading', { name: 'Keyboard' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { name: 'Keyboard' }).waitFor({ state: 'detached' });
    await context.close();
  });

  test.each(MODES)(
    'every room is accessible in %s colours at %i pixels, and asks nothing from elsewhere',
    { timeout: 400_000 },
    async (colorScheme, width) => {
      const { page, context, complaints, foreign } = await openPage(browser, {
        colorScheme,
        viewport: { width, height: 900 },
      });
      await page.goto(`${service.url}/console`);
      await page.getByLabel('API key').waitFor();
      await expectAccessible(page, 'sign-in');
      const root = await signIn(page);
      const pages = [
        'home',
        'customers',
        'customers/ada',
        'customers/ada/invoices',
        'customers/ada/payments',
        'customers/ada/details',
        'subscriptions',
        'subscriptions/ada-1',
        'invoices',
        `invoices/${invoiceId}`,
        'plans',
        'plans/starter',
        'plans/starter/edit',
        'metrics',
        'metrics/calls',
        'events',
        'events?show=unmatched',
        'webhooks',
        'logs',
        'logs?show=api',
        'logs?show=security',
        'keys',
        'clock',
        'clock?show=mails',
        'nowhere',
      ];
      for (const each of pages) {
        await page.goto(`${root}/${each}`);
        await page.locator('header.page h1').waitFor();
        await until(async () => (await page.locator('[aria-busy]').count()) === 0 || undefined);
        await expectAccessible(page, each);
        await expectWholeWords(page, each);
      }
      await page.goto(`${root}/invoices/${invoiceId}`);
      await page.getByRole('button', { name: 'Why' }).first().click();
      await page.getByText('recomputed: equal').waitFor();
      await expectAccessible(page, 'why');
      expect([complaints, foreign]).toEqual([[], []]);
      await context.close();
    },
  );

  test('who runs the service sees queues and jobs, and no record of an organization', async () => {
    const { page, context } = await openPage(browser);
    await page.goto(`${service.url}/console`);
    await page.getByRole('button', { name: 'I run this service' }).click();
    await page.getByLabel('Operator token').fill(OPERATOR_TOKEN);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Operations' }).waitFor();
    await page.getByText('clean-idempotency').waitFor();
    await expectAccessible(page, 'operations');
    expect(await page.getByRole('navigation', { name: 'Rooms' }).locator('li a').allInnerTexts()).toEqual([
      'Operations',
    ]);
    await context.close();
  });
});
