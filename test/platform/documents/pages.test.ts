import { inflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { draw } from '../../../src/platform/documents/draw.ts';
import type { DocumentModel, Row, Total } from '../../../src/platform/documents/model.ts';
import { inLongRun } from '../../support/long-run.ts';
import { laidOpen } from './laid-open.ts';

// Where a page ends: no document has a page on which nothing stands but its footer.

/** Past the end of the first page; of the second in a long run. */
const MOST_ROWS = inLongRun(60, 36);
const line = (name: string): Row => ({ kind: 'line', cells: [name, '1', '10,00 €', '19 %', '10,00 €'] });
const tier: Row = { kind: 'detail', cells: ['0 bis 10', '10', '1,00 €', '', ''] };
const total = (label: string, kind: Total['kind'] = 'plain'): Total => ({ label, value: '10,00 €', kind });
const REDUCED = [
  total('Zwischensumme'),
  total('Bereits berechnete Nutzung'),
  total('Gutscheine'),
  total('Summe netto', 'sum'),
  total('MwSt (19 % auf 10,00 €)'),
  total('Guthaben'),
  total('Gesamtbetrag', 'grand'),
];

const document = (rows: readonly Row[], fields: Partial<DocumentModel> = {}): DocumentModel => ({
  language: 'de',
  title: 'Rechnung',
  number: 'ACM-1',
  logo: null,
  paper: 'A4',
  facts: [
    { label: 'Rechnungsnummer', value: 'ACM-1' },
    { label: 'Rechnungsdatum', value: '01.04.2026' },
  ],
  parties: [
    { label: 'Von', lines: ['Acme', 'Weg 1', '10115 Berlin'] },
    { label: 'An', lines: ['Ada', 'Weg 2', '10115 Berlin'] },
  ],
  headline: { text: '10,00 € fällig', note: 'Zahlbar bis 01.05.2026' },
  columns: ['Position', 'Einheiten', 'Einzelpreis', 'Steuer', 'Betrag'].map((label, index) => ({
    label,
    isFigure: index > 0,
  })),
  tables: [{ title: 'Tarif', rows }],
  totals: REDUCED,
  notes: [],
  pageLabel: 'Seite {page} von {pages}',
  ...fields,
});

/** Height of the foot of a page, where its number stands. */
const FOOT = 54;

/** Where names of rows and of totals begin. */
const [ROWS_LEFT, TOTALS_LEFT] = [47, 257.28];

/** Where each piece of text begins on each page, from left and from below. */
function placesOf(bytes: Uint8Array): { left: number; height: number }[][] {
  const raw = Buffer.from(bytes).toString('latin1');
  const pages = [...raw.matchAll(/\/Type \/Page\n[\s\S]*?\/Contents (\d+) 0 R/g)];
  return pages.map(([, id]) => {
    const from = raw.indexOf('stream\n', raw.indexOf(`\n${id} 0 obj`)) + 'stream\n'.length;
    const stream = inflateSync(Buffer.from(raw.slice(from, raw.indexOf('\nendstream', from)), 'latin1'));
    const places = stream.toString('latin1').matchAll(/([\d.]+) ([\d.]+) Tm\n/g);
    return [...places].map(([, left, height]) => ({ left: Number(left), height: Number(height) }));
  });
}

/** How many pieces of text stand above the foot of each page, in the order of the pages. */
const textsOfPages = (bytes: Uint8Array): number[] =>
  placesOf(bytes).map((places) => places.filter(({ height }) => height > FOOT).length);

describe('documents with many rows have no empty page', () => {
  const rows = (count: number) => Array.from({ length: count }, (_, index) => line(`Position ${index + 1}`));
  test.each<[string, (count: number) => DocumentModel]>([
    ['an invoice', (count) => document(rows(count))],
    ['one with tiers', (count) => document(rows(count).flatMap((row) => [row, tier]))],
    [
      'one with a footer',
      (count) => document(rows(count), { notes: [{ title: null, text: 'Stammkapital 25.000 €' }] }),
    ],
    ['a credit note', (count) => document(rows(count), { headline: null, totals: REDUCED.slice(-3) })],
    ['a receipt', (count) => document(rows(count), { totals: REDUCED.slice(-1) })],
  ])('a document has no empty page: %s', async (_what, of) => {
    const thin: [number, number[]][] = [];
    for (let count = 1; count <= MOST_ROWS; count += 1) {
      const pages = textsOfPages((await draw(of(count), null)).bytes);
      if (pages.some((texts) => texts === 0)) thin.push([count, pages]);
    }
    expect(thin).toEqual([]);
  });

  test.each([
    ['lines', (index: number) => [line(`Position ${index + 1}`)]],
    ['lines with tiers', (index: number) => [line(`Position ${index + 1}`), tier, tier]],
  ])('totals stand on a page with the last amount, which has a head there: %s', async (_what, rowsAt) => {
    const alone: number[] = [];
    for (let count = 1; count <= MOST_ROWS; count += 1) {
      const all = Array.from({ length: count }, (_, index) => rowsAt(index)).flat();
      const pages = placesOf((await draw(document(all), null)).bytes);
      const withTotals = pages.filter((places) => places.some(({ left }) => Math.abs(left - TOTALS_LEFT) < 1));
      const rows = withTotals.map((places) => places.filter(({ left }) => Math.abs(left - ROWS_LEFT) < 1).length);
      // The head with its row, or only the row where the page has more of them.
      if (rows.length !== 1 || rows[0]! < 2) alone.push(count);
    }
    expect(alone).toEqual([]);
  });

  test('a document with many totals loses none of them', async () => {
    const textsWith = async (count: number) => {
      const totals = Array.from({ length: count }, (_, index) => total(`Bezahlt am ${index + 1}`));
      return textsOfPages((await draw(document(rows(1), { totals }), null)).bytes);
    };
    const sum = (texts: number[]) => texts.reduce((all, each) => all + each, 0);
    const [one, two] = [sum(await textsWith(1)), sum(await textsWith(2))];
    for (let count = 3; count <= MOST_ROWS; count += 1) {
      const texts = await textsWith(count);
      expect(texts).not.toContain(0);
      expect([count, sum(texts) >= one + (count - 1) * (two - one)]).toEqual([count, true]);
    }
  });

  test('a document with a row higher than a page loses nothing', async () => {
    const texts = textsOfPages((await draw(document([line('DE, AT, CH, '.repeat(1000)), line('Last')]), null)).bytes);
    expect(texts).not.toContain(0);
    expect(texts.length).toBeGreaterThan(2);
  });

  test('a table without rows shows no head, as on a note over prepaid credits', async () => {
    const textsWith = async (fields: Partial<DocumentModel>) =>
      textsOfPages((await draw(document([], fields), null)).bytes);
    expect(await textsWith({ tables: [{ title: 'Tarif', rows: [] }] })).toEqual(await textsWith({ tables: [] }));
  });
});

describe('the link below what is due', () => {
  const url = 'https://billing.example/pay/aB-_9';
  test.each([
    ['in one font', 'Hier bezahlen'],
    ['in several fonts', '在此支付此帳單（連結有效至 2026年5月1日）'],
  ])('words %s open the address', async (_what, text) => {
    const headline = { text: '10,00 € fällig', note: 'Zahlbar bis 01.05.2026', link: { text, url } };
    const { bytes, missing } = await draw(document([line('Position')], { headline }), null);
    expect(missing).toBe('');
    const found = [
      ...Buffer.from(bytes)
        .toString('latin1')
        .matchAll(/\/URI \(([^)]*)\)/g),
    ].map(([, each]) => each);
    expect(found.length).toBeGreaterThan(0);
    expect(new Set(found)).toEqual(new Set([url]));
  });

  test('a code for cameras stands beside it, of modules that a camera can tell apart', async () => {
    const long = `${url}${'x'.repeat(120)}`;
    const headline = {
      text: '10,00 € fällig',
      note: 'Zahlbar bis 01.05.2026',
      link: { text: 'Hier bezahlen', url: long },
    };
    const squares = async (model: DocumentModel) =>
      [...laidOpen((await draw(model, null)).bytes).matchAll(/[\d.]+ [\d.]+ (\d+) (\d+) re\n/g)].map(
        ([, width]) => width,
      );
    const { link: _, ...plain } = headline;
    const modules = await squares(document([line('Position')], { headline }));
    expect((await squares(document([line('Position')], { headline: plain }))).length).toBeLessThan(20);
    expect(modules.filter((width) => width === '2').length).toBeGreaterThan(500);
  });
});

test('a name from right to left with a number in it begins at the margin', async () => {
  const names = ['הרצל 12 תל אביב', 'רחוב 12', 'شارع 7 القاهرة'];
  const drawn = await draw(document([line('Position')], { parties: [{ label: 'An', lines: names }] }), null);
  const lefts = placesOf(drawn.bytes).flatMap((places) => places.map(({ left }) => left));
  expect(lefts.length).toBeGreaterThan(10);
  expect(Math.min(...lefts)).toBe(42);
});
