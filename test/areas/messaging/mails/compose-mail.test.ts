import { Temporal } from 'temporal-polyfill';
import { describe, expect, test } from 'vitest';
import { formatOf } from '../../../../src/areas/messaging/documents/number-and-date-formats.ts';
import { DOCUMENT_LOCALES } from '../../../../src/areas/messaging/documents/texts/by-locale.ts';
import { composeMail, type MailContent } from '../../../../src/areas/messaging/mails/compose-mail.ts';
import { payMark } from '../../../../src/areas/messaging/mails/pay-link.ts';
import { TEMPLATE_NAMES, templateOf } from '../../../../src/areas/messaging/mails/templates.ts';
import { mailTextsOf } from '../../../../src/areas/messaging/mails/texts/by-locale.ts';
import { wrapText } from '../../../../src/areas/messaging/mails/wrap-text.ts';
import type { Context } from '../../../../src/platform/context.ts';
import type { BillingEntityId, CustomerId } from '../../../../src/platform/ids.ts';

// The words of mails and what cannot get into them: docs/rules/mails.md.
const ID = '0198f0c0-0000-7000-8000-000000000001';
const ctx = { config: { PORTAL_TOKEN_TTL_HOURS: 12 } } as unknown as Context;
const NONE = { subject: null, intro: null, closing: null };
const DUE = Temporal.PlainDate.from('2026-12-15');

const content = (fields: Partial<MailContent> = {}): MailContent => {
  const locale = fields.locale ?? 'de';
  const { amount, date } = formatOf(locale, 'EUR', 'UTC');
  return {
    template: 'invoice',
    locale,
    issuer: {
      billing_entity_id: ID as BillingEntityId,
      name: 'Nord GmbH',
      email: 'rechnung@nord.example',
      logo_url: null,
      document_locale: 'de',
      timezone: 'UTC',
      accent_color: null,
      legal: ['Hafen 1, 20095 Hamburg, DE'],
    },
    customer: { id: ID as CustomerId, name: 'Ada' },
    values: { number: 'INV-7', amount: amount(123_456), due_date: date(DUE) },
    headline: null,
    blocks: [],
    ...fields,
  };
};

const plainSpaces = (text: string): string => text.replaceAll(/[\u00a0\u202f]/g, ' ');

describe('subjects of an invoice', () => {
  test.each([
    ['en', 'Invoice INV-7 from Nord GmbH: €1,234.56 due Dec 15, 2026'],
    ['de', 'Rechnung INV-7 von Nord GmbH: 1.234,56 €, zahlbar bis 15.12.2026'],
    ['es', 'Factura INV-7 de Nord GmbH: 1234,56 €, vence el 15 dic 2026'],
    ['fr', 'Facture INV-7 de Nord GmbH : 1 234,56 € à payer avant le 15 déc. 2026'],
    ['it', 'Fattura INV-7 di Nord GmbH: 1234,56 €, scadenza 15 dic 2026'],
    ['nb', 'Faktura INV-7 fra Nord GmbH: 1 234,56 €, forfaller 15. des. 2026'],
    ['pt-BR', 'Fatura INV-7 de Nord GmbH: € 1.234,56, vencimento em 15 de dez. de 2026'],
    ['sv', 'Faktura INV-7 från Nord GmbH: 1 234,56 €, förfaller 15 dec. 2026'],
    ['zh-TW', 'Nord GmbH 帳單 INV-7：€1,234.56，繳款期限 2026年12月15日'],
  ] as const)('name amount and date in %s (CO35, CO37)', async (locale, subject) => {
    expect(plainSpaces((await composeMail(ctx, content({ locale }), NONE)).subject)).toBe(subject);
  });

  test('with nothing due name neither amount nor date (CO37)', async () => {
    const settled = content({ builtIn: { subject: mailTextsOf('de').settled } });
    expect((await composeMail(ctx, settled, NONE)).subject).toBe('Rechnung INV-7 von Nord GmbH');
  });
});

describe('amounts and dates', () => {
  test.each([
    ['de', '1.234,56\u00a0€', '15.12.2026'],
    ['en', '€1,234.56', 'Dec 15, 2026'],
    ['es', '1234,56\u00a0€', '15 dic 2026'],
    ['fr', '1\u202f234,56\u00a0€', '15 déc. 2026'],
    ['it', '1234,56\u00a0€', '15 dic 2026'],
    ['nb', '1\u00a0234,56\u00a0€', '15. des. 2026'],
    ['pt-BR', '€\u00a01.234,56', '15 de dez. de 2026'],
    ['sv', '1\u00a0234,56\u00a0€', '15 dec. 2026'],
    ['zh-TW', '€1,234.56', '2026年12月15日'],
  ])('are written as in %s (CO35)', (locale, amount, date) => {
    const format = formatOf(locale, 'EUR', 'UTC');
    expect([format.amount(123_456), format.date(DUE)]).toEqual([amount, date]);
  });

  test.each([
    ['JPY', '¥123,456'],
    ['KWD', 'KWD\u00a0123.456'],
    ['HUF', 'HUF\u00a01,234.56'],
  ] as const)('have the decimals of %s (CO36)', (currency, amount) => {
    expect(formatOf('en', currency, 'UTC').amount(123_456)).toBe(amount);
  });
});

describe('texts of others', () => {
  const own = { subject: 'Bill {number}', intro: 'Dear {customer_name},\n\npay {amount}: {link}', closing: 'Bye' };
  const mark = payMark({ type: 'Invoice', id: ID });

  test('cannot become a tag, and stay as they are in the text part (CO38)', async () => {
    const { text, html } = await composeMail(
      ctx,
      content({ customer: { id: ID as CustomerId, name: '<b>x</b>' } }),
      own,
    );
    expect(html).toContain('Dear &lt;b&gt;x&lt;/b&gt;,');
    expect(html).not.toContain('<b>x');
    expect(text).toContain('Dear <b>x</b>,');
  });

  test('make no second header out of a line break (CO38)', async () => {
    const issuer = { ...content().issuer, name: 'Evil\r\nBcc: all@example.com' };
    const { subject } = await composeMail(ctx, content({ issuer }), { ...NONE, subject: '{seller} {customer_name}' });
    expect(subject).toBe('Evil Bcc: all@example.com Ada');
    expect((await composeMail(ctx, content(), { ...NONE, subject: 'One\r\nX-Two: 3' })).subject).toBe('One X-Two: 3');
  });

  test('cannot hold the mark of a link, be they a name or own words', async () => {
    const forged = content({ customer: { id: ID as CustomerId, name: mark } });
    const { text, html } = await composeMail(ctx, forged, {
      subject: mark,
      intro: `${mark}{customer_name}`,
      closing: mark,
    });
    for (const part of [text, html]) expect(part.match(/\uE000/g)).toHaveLength(1);
  });

  test('have a placeholder filled in once: a value that looks like one stays as it is', async () => {
    const named = content({ customer: { id: ID as CustomerId, name: '{amount}' } });
    expect((await composeMail(ctx, named, { ...NONE, subject: 'For {customer_name}' })).subject).toBe('For {amount}');
  });

  test('lead to the page that is meant by {link}, in both parts alike, and divide paragraphs at blank lines', async () => {
    const { text, html } = await composeMail(ctx, content({ link: { mark, label: 'Pay now' } }), own);
    expect(text).toContain(`pay 1.234,56\u00a0€: ${mark}`);
    expect(html).toContain(`<a class="link" href="${mark}"`);
    expect(html.match(/<p class="ink"/g)).toHaveLength(3);
    const linksOf = (part: string) => [...new Set(part.match(/\uE000[^\uE001]+\uE001/g))].sort();
    expect(linksOf(text)).toEqual(linksOf(html));
    expect(linksOf(text)).toHaveLength(2);
  });
});

test('every template has words in every language, which name only placeholders that it has', () => {
  for (const locale of DOCUMENT_LOCALES) {
    const { words, firm, final, settled } = mailTextsOf(locale);
    for (const name of TEMPLATE_NAMES) {
      const texts = [...Object.values(words[name])];
      if (name === 'invoice_overdue') texts.push(firm.subject, firm.intro, final.subject, final.intro);
      if (name === 'invoice') texts.push(settled);
      expect(words[name].subject, `${locale} ${name}`).not.toBe('');
      for (const [, brace] of texts.join(' ').matchAll(/\{(\w+)\}/g))
        expect(templateOf(name).placeholders, `${locale} ${name}`).toContain(brace);
    }
  }
});

test('lines of the text part have at most 76 characters; links stay whole, and lists stay lists', () => {
  const link = `https://billing.example.com/pay/${'x'.repeat(80)}`;
  const wrapped = wrapText(`- ${'word '.repeat(40).trim()}\n${link}\n${'帳'.repeat(200)}`);
  expect(wrapped).toContain(link);
  for (const line of wrapped.split('\n')) if (line !== link) expect(line.length).toBeLessThanOrEqual(76);
  expect(wrapped.split('\n')[1]).toMatch(/^ {2}word/);
});

test('a mail with the longest words of its seller has at most 60 kB beside its logo', async () => {
  const words = { subject: '&'.repeat(150), intro: '&'.repeat(2000), closing: '&'.repeat(2000) };
  const { text, html } = await composeMail(ctx, content(), words);
  expect(Buffer.byteLength(text) + Buffer.byteLength(html)).toBeLessThan(60_000);
});

describe('hostile texts', () => {
  const own = { subject: '{customer_name}', intro: '{customer_name}'.repeat(130), closing: '{customer_name} {link}' };
  const compose = (name: string, words: Parameters<typeof composeMail>[2] = own) =>
    composeMail(ctx, content({ customer: { id: ID as CustomerId, name } }), words);

  test('make no mail of more than 100 kB, however often they are repeated', async () => {
    const { html, text, subject } = await compose('"&'.repeat(5000));
    expect(Buffer.byteLength(html)).toBeLessThan(100_000);
    expect([text.length < 60_000, subject.length]).toEqual([true, 400]);
  });

  test('are cut between letters, and links never within', async () => {
    const { subject } = await compose(`x${'😀'.repeat(300)}`);
    expect(subject.isWellFormed()).toBe(true);
    const link = { mark: payMark({ type: 'Invoice', id: ID }), label: 'Pay' };
    for (let before = 3940; before <= 4000; before += 1) {
      const { html } = await composeMail(ctx, content({ link }), { ...NONE, intro: `${'x'.repeat(before)}{link}` });
      expect(html.match(/\uE000/g)?.length).toBe(html.match(/\uE001/g)?.length);
    }
  });

  test('turn the direction of no other letter, and hold no line break of any kind', async () => {
    const { subject, text, html } = await compose('Ada\u202Egnp.exe\u2066\u2028\u0085\u0000Bcc: x');
    expect(subject).toBe('Adagnp.exe Bcc: x');
    expect(`${text}${html}`).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u2028\u0085]/);
  });

  test('name no placeholder in their turn', async () => {
    const { text } = await compose('{link} {amount} {customer_name}');
    expect(text).toContain('{link} {amount} {customer_name}');
  });
});
