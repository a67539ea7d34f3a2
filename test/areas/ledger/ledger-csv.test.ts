import { Temporal } from 'temporal-polyfill';
import { expect, test } from 'vitest';
import { csvOf } from '../../../src/areas/ledger/ledger/csv.ts';
import type { ExportedRow } from '../../../src/areas/ledger/ledger/queries.ts';

const ROW: ExportedRow = {
  id: 'e',
  position: 7,
  transaction_id: 't',
  rule: 'payment_succeeded',
  booked_at: Temporal.Instant.from('2026-04-01T00:00:00Z'),
  booked_on: Temporal.PlainDate.from('2026-04-01'),
  document_date: Temporal.PlainDate.from('2026-04-01'),
  billing_entity_code: 'main',
  account_code: 'cash',
  side: 'debit',
  amount_cents: -1200,
  currency: 'EUR',
  external_customer_id: 'ada',
  invoice_id: null,
  credit_note_id: null,
  wallet_id: null,
  payment_id: null,
  fee_id: null,
  invoice_number: null,
  credit_note_number: null,
  wallet_code: null,
  payment_reference: null,
  tax_code: null,
};

async function exported(row: Partial<ExportedRow>): Promise<string> {
  async function* pages() {
    yield [{ ...ROW, ...row }];
  }
  let text = '';
  for await (const lines of csvOf(pages())) text += lines;
  return text.slice(text.indexOf('\r\n') + 2);
}

const TEXTS = [
  'billing_entity_code',
  'external_customer_id',
  'invoice_number',
  'credit_note_number',
  'wallet_code',
  'payment_reference',
  'tax_code',
] as const;

const CELLS: [given: string, cell: string][] = [
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', "'\t=1"],
  ['\r=1', '"\'\r=1"'],
  ['=HYPERLINK("x",1)', '"\'=HYPERLINK(""x"",1)"'],
  ['a=1', 'a=1'],
  ['a,b', '"a,b"'],
  ['a"b', '"a""b"'],
  ['a\r\nb', '"a\r\nb"'],
  ['', ''],
];

test.each(TEXTS.flatMap((column) => CELLS.map(([given, cell]) => [column, given, cell] as const)))(
  'a spreadsheet reads no %s as a formula: %j becomes the cell %j',
  async (column, given, cell) => {
    const shown = (text: string | null) => (text === given ? cell : (text ?? ''));
    const columns = TEXTS.map((name) => shown({ ...ROW, [column]: given }[name]));
    expect(await exported({ [column]: given })).toBe(
      `7,t,payment_succeeded,2026-04-01T00:00:00Z,2026-04-01,2026-04-01,${columns[0]},cash,debit,-12.00,-1200,EUR,` +
        `${columns.slice(1).join(',')}\r\n`,
    );
  },
);
