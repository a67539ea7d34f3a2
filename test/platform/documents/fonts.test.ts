import { expect, test } from 'vitest';
import { draw } from '../../../src/platform/documents/draw.ts';
import { fontsFor } from '../../../src/platform/documents/fonts.ts';
import type { DocumentModel } from '../../../src/platform/documents/model.ts';
import { runsOf } from '../../../src/platform/documents/runs.ts';
import { laidOpen } from './laid-open.ts';

const named = (...names: string[]): DocumentModel => ({
  language: 'en',
  title: 'Invoice',
  number: 'ACM-1',
  logo: null,
  paper: 'A4',
  facts: [{ label: 'Date', value: 'Apr 1, 2026' }],
  parties: [{ label: 'To', lines: names }],
  headline: null,
  columns: [{ label: 'Item', isFigure: false }],
  tables: [{ title: null, rows: names.map((name) => ({ kind: 'line', cells: [name] })) }],
  totals: [{ label: 'Total', value: '€5.00', kind: 'grand' }],
  notes: [],
  pageLabel: '{page} of {pages}',
});

const NAMES = ['東京データ株式会社', '성장 요금제', '北京数据有限公司', '臺灣數據股份有限公司'];

test('names in Japanese, Korean and both Chinese scripts are in the PDF as text that can be copied', async () => {
  const { bytes, missing } = await draw(named(...NAMES), null);
  expect(missing).toBe('');
  const text = laidOpen(bytes);
  const unmapped = [...NAMES.join('').replaceAll(' ', '')].filter(
    (sign) => !text.includes(sign.codePointAt(0)!.toString(16).padStart(4, '0')),
  );
  expect(unmapped).toEqual([]);
  expect(text).toMatch(/\/BaseFont \/[A-Z]+\+NotoSansJP/);
  expect(text).toMatch(/\/BaseFont \/[A-Z]+\+NotoSansKR/);
  // Three fonts of 4 to 9 MB each, of which only the glyphs that are used are embedded.
  expect(bytes.length).toBeLessThan(100_000);
});

test('a document without such signs embeds the main font only', async () => {
  const { bytes } = await draw(named('Ada Lovelace Ltd', 'Ђорђе Ωμέγα'), null);
  const fonts = [...laidOpen(bytes).matchAll(/\/BaseFont \/[A-Z]+\+([\w-]+)/g)].map(([, name]) => name);
  expect([...new Set(fonts)].sort()).toEqual(['NotoSans-Bold', 'NotoSans-Regular']);
});

test('every character that is set unlooked at is one of the main font', () => {
  const { fontOf } = fontsFor('', null);
  const others: string[] = [];
  for (let code = 32; code < 0x3000; code += 1) {
    const character = String.fromCodePoint(code);
    if (runsOf(character, { files: {}, missing: new Set(), fontOf: () => 'wide' }) !== character) continue;
    if (fontOf(character) !== 'main') others.push(code.toString(16));
  }
  expect(others).toEqual([]);
});

test('letters are copied as they were written, whatever an earlier document wrote by the same glyph', async () => {
  await draw(named('一'), null);
  const [ideograph, radical] = ['<4e00>', '<2f00>'];
  const text = laidOpen((await draw(named('\u2f00'), null)).bytes);
  expect(text).toContain(radical);
  expect(text).not.toContain(ideograph);
});

test('characters without a font are listed', async () => {
  expect((await draw(named('Ada 🙂', 'নমস্তে', '東京'), null)).missing).toBe('🙂নমস্তে');
});

test('a character without a font is a box of the main font, and never the glyph of none, which PDF/A refuses', async () => {
  const { bytes } = await draw(named('Ada 🚀 👩\u200d🚀 নমস্তে', '\u202eevil\u202c שלום', '東京 🚀'), null);
  const set = [...laidOpen(bytes).matchAll(/\[(<[0-9a-f]+>[^\]]*)\] TJ/g)].flatMap(([, text]) =>
    [...text!.matchAll(/<([0-9a-f]+)>/g)].flatMap(([, glyphs]) => glyphs!.match(/.{4}/g) ?? []),
  );
  expect(set.length).toBeGreaterThan(50);
  expect(set).not.toContain('0000');
  expect(laidOpen(bytes)).toContain('<25a1>');
});

test.each([
  ['東京 データ', ['japanese', 'main', 'japanese']],
  ['데이터 北京', ['korean', 'main', 'korean']],
  ['数据', ['chinese']],
  ['データ 东们', ['japanese', 'main', 'chinese']],
])('fonts are chosen by character: the fonts of %s', (words, expected) => {
  const runs = runsOf(words, fontsFor(words, null));
  expect(typeof runs === 'string' ? [] : runs.map(({ font }) => font)).toEqual(expected);
});

test('a font of the operator has precedence over the others for East Asian scripts only', () => {
  const { files } = fontsFor('한', null);
  const fonts = fontsFor('Ada 한글', files.korean!.normal);
  expect(runsOf('Ada 한글 北', fonts)).toEqual([
    { text: 'Ada ', font: 'main' },
    { text: '한글', font: 'own' },
    { text: ' ', font: 'main' },
    { text: '北', font: 'own' },
  ]);
});
