import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';

/** The installed Chromium: that of CHROMIUM_PATH, else one on the PATH. */
export function chromiumPath(): string | undefined {
  const given = process.env.CHROMIUM_PATH;
  if (given) return given;
  const found = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'chromium'));
  return found.find((path) => existsSync(path));
}

/**
 * Whether there is no Chromium, for `describe.skipIf(lacksChromium())`: the output says so. In CI it must be there.
 */
export function lacksChromium(): boolean {
  if (chromiumPath() !== undefined) return false;
  if (process.env.CI === 'true') throw new Error('chromium is not installed (Debian: apt-get install chromium)');
  console.warn('skipped: chromium is not installed (Debian: apt-get install chromium)');
  return true;
}

export const launch = (): Promise<Browser> =>
  chromium.launch({ executablePath: chromiumPath()!, args: ['--no-sandbox', '--disable-dev-shm-usage'] });

/** Colours and widths in which every page of the console is opened. */
export const MODES = [
  ['light', 1280],
  ['dark', 1280],
  ['light', 375],
  ['dark', 375],
] as const;

const PATIENCE_MS = 90_000;

/** A page on which everything that a browser complains about is kept. */
export async function openPage(browser: Browser, options: BrowserContextOptions = {}) {
  const context = await browser.newContext({ locale: 'en-US', timezoneId: 'UTC', ...options });
  // Other files of the run want the processors too.
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const complaints: string[] = [];
  const foreign: string[] = [];
  page.on('pageerror', ({ message }) => complaints.push(message));
  page.on('console', (message) => {
    if (/Content Security Policy|Refused to/.test(message.text())) complaints.push(message.text());
  });
  page.on('request', (request) => {
    if (!/^(http:\/\/127\.0\.0\.1:\d+\/|data:|blob:)/.test(request.url())) foreign.push(request.url());
  });
  return { context, page, complaints, foreign };
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Holds the page as it stands against the rules of accessibility. */
export async function expectAccessible(page: Page, where: string): Promise<void> {
  const found = await page.evaluate(
    `(() => { ${AXE}; return axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map(({ html }) => html).join(' | '))); })()`,
  );
  expect(found, where).toEqual([]);
}

const LONGEST_WORD = 12;

/** Words of lists that stand on two lines in themselves, because their column is too narrow: `Analytic|s`. */
export async function expectWholeWords(page: Page, where: string): Promise<void> {
  const broken = await page.evaluate(
    `(() => {
      const texts = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
      const found = [];
      while (texts.nextNode()) {
        const node = texts.currentNode;
        if (!node.parentElement.closest('td, .what, .badge') || node.parentElement.closest('code, pre')) continue;
        for (const { 0: word, index } of node.data.matchAll(/\\p{L}+/gu)) {
          const range = document.createRange();
          range.setStart(node, index);
          range.setEnd(node, index + word.length);
          const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
          if (word.length <= ${LONGEST_WORD} && lines.size > 1) found.push(word);
        }
      }
      return found;
    })()`,
  );
  expect(broken, where).toEqual([]);
}
