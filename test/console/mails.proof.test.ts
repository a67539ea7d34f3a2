import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildOnce } from '../support/build-once.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { ok, wordsOf } from '../support/words.ts';
import { expectAccessible, lacksChromium, launch, openPage } from './browser.ts';

// The room of mails: docs/rules/mails.md, docs/rules/console.md#mails-in-a-frame.
const MODES = [
  ['light', 1280],
  ['dark', 1280],
  ['light', 390],
  ['dark', 390],
] as const;

describe.skipIf(lacksChromium())('the room of mails in a browser', () => {
  let service: TestService;
  let browser: Browser;
  let org: Awaited<ReturnType<TestService['org']>>;
  let code: string;
  beforeAll(async () => {
    await buildOnce();
    service = await startService({ settings: { RATE_LIMIT_CONSOLE: '1000' } });
    browser = await launch();
    org = await service.org({ sandbox: true, name: 'Nord' });
    [{ code }] = (await ok(org.get('/billing_entities'))).billing_entities;
    const billing_entity = { email: 'office@nord.example', email_settings: ['invoice.finalized'] };
    await ok(org.put(`/billing_entities/${code}`, { billing_entity }));
    const { customer, oneOff } = wordsOf(org);
    await customer({ email: 'ada@reader.example', name: 'Ada <b>' });
    await oneOff(123_456);
    await until(async () => (await ok(org.get('/mails'))).mails[0]?.status === 'sent' || undefined);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  async function signIn(page: Page, { organization } = org): Promise<string> {
    await page.goto(`${service.url}/console`);
    await page.getByLabel('API key').fill(organization.api_key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.locator('header.page h1').waitFor();
    return `${page.url().replace(/\/home.*$/, '')}/mails`;
  }
  const frameText = (page: Page) => page.frameLocator('iframe.mail').locator('body');

  test('a mail is found, read as its reader sees it, and its words are made one’s own', async () => {
    const { page, context, complaints, foreign } = await openPage(browser);
    const root = await signIn(page);
    await page.goto(root);
    await page.getByRole('button', { name: 'failed' }).click();
    await page.getByText('Nothing is like that').waitFor();
    await page.getByRole('button', { name: 'All', exact: true }).click();
    await page.locator('main a[data-row]').first().click();
    await page.getByRole('heading', { name: /^Invoice .* from Nord: \$1,234\.56 due/ }).waitFor();
    await frameText(page).getByText('$1,234.56 due', { exact: true }).waitFor();
    const styles = await frameText(page)
      .locator('h1')
      .evaluate((heading) => getComputedStyle(heading).fontSize);
    expect(styles).toBe('32px');
    await page.getByRole('button', { name: 'Dark' }).click();
    await until(async () => {
      const ground = await frameText(page).evaluate((body) => getComputedStyle(body).backgroundColor);
      return ground === 'rgb(17, 21, 28)' || undefined;
    });
    await page.getByRole('button', { name: 'Text', exact: true }).click();
    await page.locator('.mail-text').getByText('$1,234.56 due').waitFor();

    await page.getByRole('link', { name: 'Mails' }).first().click();
    await page.getByRole('link', { name: 'Templates' }).click();
    await page.getByRole('link', { name: 'Invoice', exact: true }).click();
    await page.getByRole('button', { name: 'Deutsch' }).click();
    await page.getByLabel('Subject').fill('Rechnung {number} von uns');
    await page.getByLabel('Text above').fill('Guten Tag {customer_name},\n\n<b>danke</b>.');
    await page.getByRole('heading', { name: 'Rechnung INV-7 von uns' }).waitFor();
    await frameText(page).locator('p').getByText('Guten Tag Ada Analytics,').waitFor();
    await frameText(page).locator('p').getByText('<b>danke</b>.').waitFor();
    await page.getByLabel('Subject').fill('Rechnung {numbr}');
    await page.getByText('unknown placeholder').first().waitFor();
    await page.getByLabel('Subject').fill('Rechnung {number} von uns');
    await page.getByRole('button', { name: 'Save' }).click();
    await until(async () => {
      const { mail_template } = await ok(org.get('/mail_templates/invoice/de'));
      return mail_template.overridden?.subject === 'Rechnung {number} von uns' || undefined;
    });
    await page.getByRole('button', { name: 'Send a test' }).click();
    await page.getByLabel('To', { exact: true }).fill('me@nord.example');
    await page.locator('dialog').getByRole('button', { name: 'Send a test' }).click();
    await until(async () => {
      const { mails } = await ok(org.get('/sandbox/mails'));
      return mails.find(({ subject }: { subject: string }) => subject === '[Test] Rechnung INV-7 von uns');
    });
    expect([complaints, foreign]).toEqual([[], []]);
    await context.close();
  });

  test('a sender is named and verified, and what is sent is chosen', async () => {
    const { page, context, complaints } = await openPage(browser);
    const root = await signIn(page);
    await page.goto(`${root}/senders`);
    await page.getByLabel('Your address').fill('billing@nord.example');
    await page.getByRole('button', { name: 'Save' }).first().click();
    await page.getByText('waits for its code').waitFor();
    const told = await until(async () => {
      const { mails } = await ok(org.get('/sandbox/mails?per_page=100'));
      const mail = mails.find(({ to }: { to: string[] }) => to.includes('billing@nord.example'));
      return /^\d{6}$/m.exec(mail?.text ?? '')?.[0];
    });
    await page.getByRole('button', { name: 'Verify the address' }).click();
    await page.getByLabel('The six digits').fill(told);
    await page.locator('dialog').getByRole('button', { name: 'Verify the address' }).click();
    await page.getByText('verified', { exact: true }).waitFor();
    await page.getByLabel('End of a trial', { exact: true }).check();
    await page.getByLabel('Days before the end of a trial').fill('7');
    await page.getByRole('button', { name: 'Save' }).last().click();
    await page.getByLabel('Receipt').check();
    await page.getByRole('button', { name: 'Save' }).nth(1).click();
    await until(async () => {
      const { mail_settings: settings } = await ok(org.get(`/billing_entities/${code}/mail_settings`));
      const { trial_ending, payment_receipt, invoice, credit_note } = settings.templates;
      return (trial_ending && payment_receipt && invoice && !credit_note && settings.trial_days === 7) || undefined;
    });
    expect(complaints).toEqual([]);
    await context.close();
  });

  test('the frame takes nothing without the cookie and the token of one session, and nothing that is too large', async () => {
    const { page, context } = await openPage(browser);
    await signIn(page);
    const view = (form: Record<string, string>) => page.request.post(`${service.url}/console/mail-view`, { form });
    const { csrf_token: token } = (await (await page.request.get(`${service.url}/console/session`)).json()).session;
    const html = '<p style="color:red">x</p>';
    expect((await view({ html })).status()).toBe(401);
    expect((await view({ html, token: `${token}x` })).status()).toBe(401);
    expect((await view({ token })).status()).toBe(422);
    expect((await view({ html: 'x'.repeat(2_000_001), token })).status()).toBe(422);
    expect((await view({ html: 'é'.repeat(1_100_000), token })).status()).toBe(413);
    const answer = await view({ html, token });
    expect([answer.status(), await answer.text()]).toEqual([200, html]);
    expect(answer.headers()['content-security-policy']).toBe(
      "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'",
    );
    await context.clearCookies();
    expect((await view({ html, token })).status()).toBe(401);
    await context.close();
  });

  test.each(MODES)(
    'every page is accessible and fits, %s at %i pixels, with mails and without',
    async (scheme, width) => {
      const { page, context, complaints } = await openPage(browser, {
        colorScheme: scheme,
        viewport: { width, height: 900 },
      });
      const [mail] = (await ok(org.get('/mails'))).mails;
      const empty = await service.org({ sandbox: true, name: `Empty ${scheme} ${width}` });
      for (const [owner, ways] of [
        [
          org,
          ['', `/${mail.svc_id}`, '/templates', '/templates/invoice', '/templates/trial_ending?lang=zh-TW', '/senders'],
        ],
        [empty, ['', '/templates', '/senders']],
      ] as const) {
        const root = await signIn(page, owner);
        for (const way of ways) {
          await page.goto(root + way);
          await page.locator('header.page h1').waitFor();
          await page.waitForLoadState('networkidle');
          if (/templates\/|\/\w+-\w+/.test(way)) await frameText(page).locator('table').first().waitFor();
          await expectAccessible(page, `${way} ${scheme} ${width}`);
          const isWider = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
          expect(isWider, `${way} at ${width}`).toBe(false);
          if (process.env.PICTURES)
            await page.screenshot({
              path: `${process.env.PICTURES}/room${way.replaceAll(/[/?=]/g, '-')}-${owner === org ? 'data' : 'empty'}-${scheme}-${width}.png`,
              fullPage: true,
            });
        }
        await context.clearCookies();
      }
      expect(complaints).toEqual([]);
      await context.close();
    },
  );
});
