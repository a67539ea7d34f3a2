import { CSV_LINE_END, csvCell } from '../../../platform/csv/csv-cell.ts';
import type { BookSettings } from '../../catalog/model-books/book-settings.ts';
import type { GroupKey, MarginRow } from './report.ts';
import { figuresView, nameOfKey } from './view.ts';

const FIGURES = [
  'currency',
  'events',
  'unpriced_events',
  'input_tokens',
  'output_tokens',
  'precise_cost_cents',
  'precise_revenue_cents',
  'precise_margin_cents',
  'margin_rate',
] as const;
/** How many lines one piece of the file has. */
const LINES = 1000;

/** A report as lines, a header first: what each row is about, its figures, its flags with blanks between them. */
export async function* csvOfMargins(
  keys: readonly GroupKey[],
  rows: readonly MarginRow[],
  settings: BookSettings,
): AsyncGenerator<string> {
  yield `${[...keys.map((key) => csvCell(nameOfKey(key))), ...FIGURES, 'flags'].join(',')}${CSV_LINE_END}`;
  for (let start = 0; start < rows.length; start += LINES)
    yield rows
      .slice(start, start + LINES)
      .map((row) => `${lineOf(keys, row, settings)}${CSV_LINE_END}`)
      .join('');
}

function lineOf(keys: readonly GroupKey[], row: MarginRow, settings: BookSettings): string {
  const figures = figuresView(row, settings);
  return [
    ...keys.map((_, place) => csvCell(row[`k${place}`] ?? null)),
    ...FIGURES.map((name) => String(figures[name] ?? '')),
    figures.flags.join(' '),
  ].join(',');
}
