import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildOnce } from '../support/build-once.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { expectAccessible, expectWholeWords, lacksChromium, launch, MODES, openPage } from './browser.ts';
import { type Company, openCompany } from './company.ts';

// One story a room: what a person comes for, by the buttons and fields that they see.
describe.skipIf(lacksChromium())('rooms of the console', () => {
  let service: TestService;
  let browser: Browser;
  let company: Company;
  beforeAll(async () => {
    await buildOnce();
    service = await startService({ settings: { RATE_LIMIT_CONSOLE: '1000' } });
    browser = await launch();
    company = await openCompany(service);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  async function signIn(page: Page, apiKey = company.apiKey): Promise<string> {
    await page.goto(`${service.url}/console`);
    await page.getByLabel('API key').fill(apiKey);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.locator('header.page h1').waitFor();
    return page.url().replace(/\/home.*$/, '');
  }

  /** Plays a story in a room that is reached from home by the menu, without a complaint of the browser. */
  const story = (title: string, room: string, play: (page: Page, root: string) => Promise<void>) =>
    test(title, async () => {
      const { page, context, complaints, foreign } = await openPage(browser);
      const root = await signIn(page);
      await page.getByRole('navigation', { name: 'Rooms' }).getByRole('link', { name: room, exact: true }).click();
      await page.getByRole('heading', { name: room, exact: true, level: 1 }).waitFor();
      await play(page, root);
      expect([complaints, foreign]).toEqual([[], []]);
      await context.close();
    });

  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).first().click();
  const send = (page: Page, name: string) =>
    page.locator('dialog').getByRole('button', { name, exact: true }).last().click();
  const gone = (page: Page) => page.locator('dialog').waitFor({ state: 'detached' });

  story('a credit note is estimated on the page of its invoice, and issued', 'Credit notes', async (page, root) => {
    await page.locator('main a[data-row]').first().click();
    await page.getByText('Against what is due').waitFor();
    await page.goto(`${root}/invoices/${company.invoiceId}`);
    await page.getByRole('link', { name: 'Credit note', exact: true }).click();
    await page.getByRole('heading', { name: /^Credit note of/ }).waitFor();
    const amounts = page.locator('.field input[inputmode=decimal]');
    await until(async () => (await amounts.count()) > 0 || undefined);
    for (const each of await amounts.all()) await each.fill('0');
    await page.getByLabel('Team').fill('1');
    await page.getByText('$1.08').first().waitFor();
    await page.getByLabel('Give it').selectOption('offset');
    await press(page, 'Issue the credit note');
    await page.getByText('What is given back').waitFor();
    const { body } = await company.client.get('/credit_notes');
    expect(body.credit_notes.map((note: { total_amount_cents: number }) => note.total_amount_cents)).toEqual([
      108, 1080,
    ]);
  });

  story('a payment that was recorded leads to its invoice, and who owes is asked to pay', 'Payments', async (page) => {
    await page.locator('main a[data-row]').first().click();
    await page.getByRole('heading', { name: 'Payment of $20.00' }).waitFor();
    await page.getByRole('link', { name: 'Payments', exact: true }).first().click();
    await press(page, 'Requests');
    await page.getByText('Nobody was asked to pay yet').waitFor();
    await press(page, 'Request payment');
    await page.getByLabel('Customer', { exact: true }).fill('nevada');
    await page.getByText(/: \$53\.\d\d, due since/).waitFor();
    await send(page, 'Send the request');
    await gone(page);
    await page.locator('main a[data-row]').first().click();
    await page.getByRole('heading', { name: /^Request for \$53/ }).waitFor();
  });

  story('a wallet is topped up and shows where its credits went', 'Wallets', async (page) => {
    await page.locator('main a[data-row]').first().click();
    await page.getByRole('heading', { name: 'Prepaid' }).waitFor();
    await press(page, 'Top up');
    await page.getByLabel('Credits that are given').fill('7');
    await send(page, 'Add credits');
    await gone(page);
    await page.locator('.figure b').getByText('$57.00').first().waitFor();
    await page.getByRole('button', { name: 'Given' }).first().click();
    await page.getByText('7 of 7 credits are left.').waitFor();
  });

  story('lists call customers by their names, and lead to them', 'Subscriptions', async (page, root) => {
    const named = (list: string, name: string) => page.getByRole('region', { name: list }).getByRole('link', { name });
    await named('Subscriptions', 'Nevada Ltd').waitFor();
    await page.goto(`${root}/payments`);
    await named('Payments', 'Ada Analytics').first().waitFor();
    await page.goto(`${root}/credit-notes`);
    await named('Credit notes', 'Ada Analytics').first().waitFor();
    await page.goto(`${root}/wallets`);
    await named('Wallets', 'Nevada Ltd').click();
    await page.getByRole('heading', { name: 'Nevada Ltd', level: 1 }).waitFor();
    await page.goto(`${root}/wallets/${company.walletId}`);
    await page.getByRole('link', { name: 'Nevada Ltd' }).waitFor();
  });

  story('while the clock moves nothing can be written, and its drawer says what happens', 'Customers', async (page) => {
    const main = page.getByRole('button', { name: 'New customer' });
    expect(await main.isDisabled()).toBe(false);
    await page.getByRole('button', { name: 'What happens' }).click();
    const drawer = page.locator('.clock-drawer');
    await drawer.locator('li').first().waitFor();
    const times = await drawer.locator('time').evaluateAll((all) => all.map((each) => each.getAttribute('datetime')));
    expect(times).toEqual([...times].sort().reverse());
    const { test_clock } = (await company.client.get('/test_clock')).body;
    await page.route('**/api/v1/test_clock', (route) =>
      route.fulfill({ json: { test_clock: { ...test_clock, status: 'advancing', progress: { percent: 40 } } } }),
    );
    await page.reload();
    await page.getByRole('progressbar').waitFor();
    await until(async () => (await main.isDisabled()) || undefined);
    expect(await main.getAttribute('title')).toMatch(/^The clock is advancing/);
  });

  story('a coupon is made and given to a customer', 'Coupons', async (page) => {
    await press(page, 'New coupon');
    await page.getByLabel('Name').fill('Five off');
    await page.getByLabel('Code', { exact: true }).fill('five');
    await page.getByLabel('Worth').fill('5');
    await send(page, 'Create coupon');
    await page.locator('dialog .fault').first().waitFor();
    await page.getByLabel('Currency').fill('us doll');
    await page.getByRole('option', { name: 'US Dollar USD', exact: true }).click();
    await send(page, 'Create coupon');
    await page.getByRole('heading', { name: 'Five off' }).waitFor();
    await press(page, 'Give to a customer');
    await page.getByLabel('Customer', { exact: true }).fill('ada');
    await send(page, 'Give to a customer');
    await gone(page);
    await page.getByRole('region', { name: 'Coupons in use' }).getByRole('link', { name: 'Ada Analytics' }).waitFor();
  });

  story('a feature gets a privilege, and says who may use it', 'Features', async (page) => {
    await page.locator('main a[data-row]').first().click();
    await page.getByRole('heading', { name: 'Seats', level: 1 }).waitFor();
    await press(page, 'Add a privilege');
    await page.getByLabel('Code').fill('sso');
    await page.locator('dialog').getByLabel('Value').selectOption('boolean');
    await send(page, 'Add a privilege');
    await gone(page);
    await page.getByRole('cell', { name: 'yes or no' }).waitFor();
    await page.getByRole('cell', { name: 'Maximum' }).waitFor();
    await page.getByLabel('Subscription', { exact: true }).fill('ada-1');
    await press(page, 'Ask');
    await page.getByText('allowed', { exact: true }).waitFor();
    await page.getByText('max: 5').waitFor();
  });

  story('the books are audited, and a finding is acknowledged', 'Audit', async (page) => {
    await page.getByText('The books are right').waitFor();
    await press(page, 'Audit now');
    await send(page, 'Audit now');
    await gone(page);
    await press(page, 'Runs');
    await page.getByText('by hand').first().waitFor();
  });

  story('debit and credit meet, and an invoice leads to what was booked for it', 'Ledger', async (page, root) => {
    const { trial_balance } = (await company.client.get('/ledger/trial_balance')).body;
    const [{ total_debit_cents: cents }] = trial_balance.currencies;
    await page.getByText('balanced', { exact: true }).waitFor();
    const total = `$${(cents / 100).toLocaleString('en-US', { minimumFractionDigits: 2 })}`;
    expect(await page.locator('tfoot td').allTextContents()).toEqual(['Total', total, total]);
    await page.goto(`${root}/ledger/transactions`);
    await page.getByRole('region', { name: 'Entries' }).waitFor();
    await page.goto(`${root}/ledger/transactions/${company.transactionId}`);
    await page.getByRole('heading', { name: 'Lines' }).or(page.locator('tfoot')).first().waitFor();
    await page.goto(`${root}/ledger`);
    await page.getByLabel('At the end of').fill('2029-12-31');
    await page.getByText('Nothing was booked until the end of this day.').waitFor();
    await page.getByLabel('At the end of').fill('');
    await page.getByRole('link', { name: 'Due on invoices' }).click();
    await page.getByRole('button', { name: 'Due on invoices' }).waitFor();
    await page.goto(`${root}/invoices/${company.invoiceId}`);
    await page.getByRole('link', { name: 'its entries' }).click();
    const entries = await company.client.get(`/ledger/entries?invoice_id=${company.invoiceId}`);
    const rows = page.getByRole('region', { name: 'Entries' }).locator('tbody tr');
    await until(async () => (await rows.count()) === entries.body.ledger_entries.length || undefined);
    const [file] = await Promise.all([page.waitForEvent('download'), press(page, 'CSV')]);
    const text = await readFile(await file.path(), 'utf8');
    expect(text.trim().split('\r\n')).toHaveLength(1 + entries.body.ledger_entries.length);
    await page.getByRole('link', { name: 'Invoice finalized' }).first().click();
    await page.getByRole('heading', { name: 'Invoice finalized' }).waitFor();
    const [, , , debit, credit] = await page.locator('tfoot td').allTextContents();
    expect(debit).toMatch(/^\$\d/);
    expect(credit).toBe(debit);
  });

  test('the ledger of a new organization says what would stand there', async () => {
    const { page, context, complaints } = await openPage(browser);
    const { organization } = await service.org();
    const root = await signIn(page, organization.api_key);
    for (const show of ['', '?show=accounts', '?show=entries']) {
      await page.goto(`${root}/ledger${show}`);
      await page.getByText('Nothing is booked yet').waitFor();
      await expectAccessible(page, `ledger${show}`);
    }
    expect(complaints).toEqual([]);
    await context.close();
  });

  story('a mail that a sandbox keeps is found', 'Mails', async (page) => {
    await page.getByText('A sandbox sends no mail').first().waitFor();
    await page.locator('main a[data-row]').first().click();
    await page.locator('iframe').waitFor();
  });

  story('an organization is changed by two people, who see what the other did', 'Settings', async (page) => {
    await page.getByLabel('City').waitFor();
    await page.getByLabel('City').fill('Dallas');
    await company.client.put('/organizations', { organization: { zipcode: '73301' } });
    await press(page, 'Save');
    await page.getByText('Somebody has changed this since you opened it.', { exact: false }).waitFor();
    await page.getByText('Postal code: 73301').waitFor();
    await press(page, 'Save');
    await until(async () => {
      const { body } = await company.client.get('/organizations');
      return body.organization.city === 'Dallas' && body.organization.zipcode === '73301';
    });
    await page.getByRole('link', { name: 'Taxes', exact: true }).click();
    await press(page, 'New tax');
    await page.getByLabel('Name').fill('VAT 19 %');
    await page.getByLabel('Code').fill('vat19');
    await page.getByLabel('Rate in percent').fill('19');
    await send(page, 'Create tax');
    await gone(page);
    await page.getByRole('cell', { name: 'VAT 19 %' }).waitFor();
    await page.getByRole('link', { name: 'Billing entities', exact: true }).click();
    await page.locator('main a[data-row]').first().click();
    await page.getByText('Its documents lack', { exact: false }).waitFor();
  });

  story('a plan says what a change would do, and asks before it is left', 'Plans', async (page, root) => {
    await page.goto(`${root}/plans/team/edit`);
    await page.getByLabel('Fee of a period').fill('59');
    await press(page, 'Add a threshold');
    await page.getByLabel('At an amount of usage').fill('100');
    await page.getByLabel('Maximum').fill('8');
    await page.getByLabel('Price of a unit').fill('0.1');
    await page.getByLabel('Subscription', { exact: true }).fill('ada-1');
    await press(page, 'Try');
    await page.getByRole('region', { name: 'Current usage at both prices' }).waitFor();
    page.once('dialog', (dialog) => void dialog.dismiss());
    await page.getByRole('link', { name: 'Metrics', exact: true }).click();
    await press(page, 'Save …');
    for (const text of [
      'Fee, from the next period on: 49.00 becomes 59.',
      'The prices of API calls change, from the current usage window on.',
      'Usage is billed early at 100.',
      'The values of the feature seats change, at once.',
      '3 active subscriptions of 3 customers use it.',
    ])
      await page.getByText(text).waitFor();
    await send(page, 'Save');
    await page.getByRole('heading', { name: 'Team', level: 1, exact: true }).waitFor();
    const { plan } = (await company.client.get('/plans/team')).body;
    expect(plan).toMatchObject({
      amount_cents: 5900,
      usage_thresholds: [{ amount_cents: 10000, recurring: false }],
      entitlements: [{ entitlement: { code: 'seats', privileges: [{ code: 'max', value: 8 }] } }],
    });
  });

  story(
    'a customer shows what happened, and a subscription what its usage comes to',
    'Customers',
    async (page, root) => {
      await page.goto(`${root}/customers/ada`);
      await page.getByText('Payment succeeded').waitFor();
      await press(page, 'Usage');
      await page
        .getByText(/\d events, \$0\.\d\d/)
        .first()
        .waitFor();
      await page.goto(`${root}/subscriptions/ada-1`);
      await page.getByText('What the usage of this period has come to').waitFor();
      await press(page, 'As table');
      await page.getByRole('columnheader', { name: 'Time (UTC)' }).waitFor();
    },
  );

  const pages = () => [
    'customers/ada',
    'subscriptions/ada-1',
    'plans/team',
    'plans/team/edit',
    'credit-notes',
    `credit-notes/${company.creditNoteId}`,
    `credit-notes/new?invoice=${company.invoiceId}`,
    'payments',
    'payments?show=requests',
    'payments?show=campaigns',
    'payments?show=inbound',
    'wallets',
    `wallets/${company.walletId}`,
    'coupons',
    'coupons/welcome',
    'features',
    'features/seats',
    'audit',
    'audit?show=runs',
    'ledger',
    'ledger?at=2030-01-31',
    'ledger?show=accounts',
    'ledger?show=entries&account=receivable',
    `ledger/${company.transactionId}`,
    'mails',
    'settings',
    'settings/entities',
    'settings/taxes',
    'settings/sections',
    'settings/providers',
    'settings/portal',
    'settings/mails',
    'settings/webhook-keys',
    'settings/retention',
    'customers/ada/credit-notes',
    'customers/nevada/wallets',
    'customers/zed/coupons',
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
      for (const each of pages()) {
        await page.goto(`${root}/${each}`);
        await page.locator('header.page h1').waitFor();
        await until(async () => (await page.locator('[aria-busy]').count()) === 0 || undefined);
        await expectAccessible(page, each);
        await expectWholeWords(page, each);
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), each).toBe(true);
      }
      expect([complaints, foreign]).toEqual([[], []]);
      await context.close();
    },
  );
});
