import { Temporal } from 'temporal-polyfill';
import { describe, expect, test } from 'vitest';
import { invoiceModel } from '../../../../src/areas/documents/render-documents/invoice-model.ts';
import type { PaidPart, Printed } from '../../../../src/areas/documents/render-documents/printed-invoice.ts';
import type { FeeRow } from '../../../../src/areas/invoices/fees/queries.ts';
import type { InvoiceParts } from '../../../../src/areas/invoices/invoices/view.ts';
import { formatOf } from '../../../../src/areas/messaging/documents/number-and-date-formats.ts';
import { languageOf } from '../../../../src/areas/messaging/documents/texts/by-locale.ts';
import { decimal } from '../../../../src/engine/money/decimal.ts';
import { draw } from '../../../../src/platform/documents/draw.ts';

const LOCALES = ['de', 'en', 'es', 'fr', 'it', 'nb', 'pt-BR', 'sv', 'zh-TW'];
const at = (text: string) => Temporal.Instant.from(text);
const day = (text: string) => Temporal.PlainDate.from(text);

let ids = 0;
const fee = (fields: object): FeeRow => {
  ids += 1;
  return {
    id: `fee-${ids}`,
    subscription_id: 'sub',
    charge_id: null,
    true_up_parent_fee_id: null,
    fee_type: 'charge',
    item_name: 'Calls',
    invoice_display_name: null,
    item_description: null,
    amount_cents: 1000,
    precise_coupons_amount_cents: decimal(0),
    precise_unit_amount: decimal('0.05'),
    taxes_rate: decimal(20),
    units: decimal(200),
    grouped_by: {},
    amount_details: {},
    pricing_unit_details: null,
    from_datetime: at('2026-03-01T00:00:00Z'),
    to_datetime: at('2026-04-01T00:00:00Z'),
    filter_values: null,
    filter_display_name: null,
    ...fields,
  } as unknown as FeeRow;
};

const address = {
  address_line1: '1 rue A',
  address_line2: null,
  city: 'Paris',
  state: null,
  zipcode: '75001',
  country: 'FR',
};
const nowhere = { address_line1: null, address_line2: null, city: null, state: null, zipcode: null, country: null };

const parts = (fees: FeeRow[], invoice: object = {}): InvoiceParts =>
  ({
    invoice: {
      number: 'ACM-0001-001-001',
      currency: 'EUR',
      timezone: 'UTC',
      self_billed: false,
      issuing_date: day('2026-04-01'),
      payment_due_date: day('2026-05-01'),
      net_payment_term: 30,
      purchase_order_number: null,
      fees_amount_cents: 15000,
      progressive_billing_credit_amount_cents: 0,
      coupons_amount_cents: 0,
      sub_total_excluding_taxes_amount_cents: 15000,
      sub_total_including_taxes_amount_cents: 18000,
      credit_notes_amount_cents: 0,
      prepaid_credit_amount_cents: 0,
      total_amount_cents: 18000,
      total_paid_amount_cents: 0,
      total_offsetted_credit_note_amount_cents: 0,
      total_written_off_amount_cents: 0,
      status: 'finalized',
      payment_status: 'pending',
      taxes_amount_cents: 3000,
      applied_taxes: [{ tax_name: 'VAT', tax_rate: 20, amount_cents: 3000, fees_amount_cents: 15000 }],
      applied_sections: [{ name: 'bank', display_name: 'How to pay', details: 'IBAN 1' }],
      ...invoice,
    },
    customer: {},
    fees,
    lines: [],
    credits: [],
    appliedThresholds: [],
    subscriptions: [{ id: 'sub', name: null, plan_invoice_display_name: 'Premium', plan_name: 'p' }],
  }) as unknown as InvoiceParts;

const printed = (customer: object = {}): Printed =>
  ({
    issuer: {
      ...address,
      name: 'Acme',
      legal_name: 'Acme SAS',
      email: 'billing@acme.example',
      phone: null,
      legal_number: null,
      tax_identification_number: 'FR1',
      invoice_footer: 'Share capital 1',
      document_locale: 'en',
    },
    customer: {
      ...address,
      country: 'DE',
      name: 'Ada GmbH',
      legal_name: null,
      firstname: null,
      lastname: null,
      external_id: 'ada',
      email: null,
      phone: null,
      legal_number: null,
      tax_identification_number: null,
      shipping_address: nowhere,
      metadata: [
        { key: 'Cost centre', value: '4711', display_in_invoice: true },
        { key: 'secret', value: 'x', display_in_invoice: false },
      ],
      ...customer,
    },
    logo_url: null,
    customer_locale: null,
  }) as unknown as Printed;

const english = languageOf('en', null);
const modelOf = (fees: FeeRow[], invoice: object = {}, customer: object = {}, paid: PaidPart[] = []) =>
  invoiceModel(parts(fees, invoice), printed(customer), paid, english);
const rowsOf = (fees: FeeRow[]) =>
  modelOf(fees).tables.flatMap(({ rows }) => rows.map(({ kind, cells }) => [kind, ...cells]));

describe('contents of a printed invoice', () => {
  test('an invoice prints its parties, facts, sections and footer', () => {
    const model = modelOf([fee({ amount_cents: 15000 })]);
    expect(model.parties).toEqual([
      {
        label: 'From',
        lines: ['Acme SAS', '1 rue A', '75001 Paris', 'France', 'billing@acme.example', 'VAT number: FR1'],
      },
      { label: 'Bill to', lines: ['Ada GmbH', '1 rue A', '75001 Paris', 'Germany'] },
    ]);
    expect(model.facts).toEqual([
      { label: 'Invoice number', value: 'ACM-0001-001-001' },
      { label: 'Date of issue', value: 'Apr 1, 2026' },
      { label: 'Due date', value: 'May 1, 2026' },
      { label: 'Payment term', value: '30 days' },
      { label: 'Service period', value: 'Mar 1, 2026 – Mar 31, 2026' },
      { label: 'Cost centre', value: '4711' },
    ]);
    expect(model.headline).toEqual({ text: '€180.00 due', note: 'Payable until May 1, 2026' });
    expect(model.notes).toEqual([
      { title: 'How to pay', text: 'IBAN 1' },
      { title: null, text: 'Share capital 1' },
    ]);
  });

  test('a self-billed invoice swaps the parties, and a delivery address elsewhere is a third party', () => {
    const swapped = modelOf([], { self_billed: true });
    expect(swapped.title).toBe('Self-billing invoice');
    expect(swapped.parties.map(({ lines }) => lines[0])).toEqual(['Ada GmbH', 'Acme SAS']);
    const shipped = modelOf([], {}, { shipping_address: { ...address, city: 'Lyon' } });
    expect(shipped.parties[2]).toEqual({ label: 'Ship to', lines: ['Ada GmbH', '1 rue A', '75001 Lyon', 'France'] });
  });

  test('the totals of an invoice lead from the fees to the due amount', () => {
    const { totals } = modelOf([], {
      progressive_billing_credit_amount_cents: 3000,
      coupons_amount_cents: 2400,
      sub_total_excluding_taxes_amount_cents: 9600,
      taxes_amount_cents: 1920,
      applied_taxes: [{ tax_name: 'VAT', tax_rate: 20, amount_cents: 1920, fees_amount_cents: 9600 }],
      sub_total_including_taxes_amount_cents: 11520,
      credit_notes_amount_cents: 1520,
      prepaid_credit_amount_cents: 4000,
      total_amount_cents: 6000,
    });
    // The worked example of invoice-amounts.md#amounts.
    expect(totals.map(({ label, value }) => [label, value])).toEqual([
      ['Subtotal', '€150.00'],
      ['Usage billed before', '-€30.00'],
      ['Coupons', '-€24.00'],
      ['Subtotal without tax', '€96.00'],
      ['VAT (20% on €96.00)', '€19.20'],
      ['Subtotal with tax', '€115.20'],
      ['Credit notes', '-€15.20'],
      ['Prepaid credits', '-€40.00'],
      ['Total', '€60.00'],
    ]);
  });

  test.each([
    [
      'en',
      'Tax is computed on €98.10, not on the subtotal of €154.93: usage billed before reduces the two differently.',
    ],
    [
      'de',
      'Die Steuer ist auf 98,10 € berechnet, nicht auf die Summe netto von 154,93 €: ' +
        'Bereits berechnete Nutzung mindert beide verschieden.',
    ],
  ])('%s names the taxed amount where it differs from the net total', (locale, text) => {
    const notesOf = (coupons: string) => {
      const fees = [fee({ amount_cents: 74050, precise_coupons_amount_cents: decimal(coupons) })];
      const given = parts(fees, { sub_total_excluding_taxes_amount_cents: 15493 });
      const { notes } = invoiceModel(given, printed(), [], languageOf(locale, null));
      return notes.map((note) => note.text.replace(/\u00a0/g, ' '));
    };
    expect(notesOf('64240.3282')[0]).toBe(text);
    expect(notesOf('58557.4')).not.toContain(text);
    expect(notesOf('58557.4')).toHaveLength(2);
  });

  test('fees are printed below their subscription, and a charge with filters and groups as a heading with parts', () => {
    expect(
      rowsOf([
        fee({ charge_id: 'c', filter_values: { country: ['FR', 'BE'] } }),
        fee({ charge_id: 'c', grouped_by: { region: 'eu', team: null } }),
        fee({ charge_id: 'c' }),
        fee({ charge_id: 'empty', units: decimal(0), amount_cents: 0 }),
        fee({ fee_type: 'subscription', item_name: 'Premium', units: decimal(1), precise_unit_amount: decimal(10) }),
        fee({ fee_type: 'commitment', units: decimal(1), precise_unit_amount: decimal(10) }),
        fee({
          fee_type: 'commitment',
          invoice_display_name: 'Least spend',
          units: decimal(1),
          precise_unit_amount: decimal(10),
        }),
      ]),
    ).toEqual([
      ['line', 'Subscription', '1', '€10.00', '20%', '€10.00'],
      ['heading', 'Calls'],
      ['part', 'FR, BE', '200', '€0.05', '20%', '€10.00'],
      ['part', 'region: eu · team: (none)', '200', '€0.05', '20%', '€10.00'],
      ['part', 'All others', '200', '€0.05', '20%', '€10.00'],
      ['line', 'Minimum commitment – true-up', '1', '€10.00', '20%', '€10.00'],
      ['line', 'Least spend', '1', '€10.00', '20%', '€10.00'],
    ]);
  });

  test("a part of a plan's fee is printed as what it comes to, not as a quotient", () => {
    const price = decimal(12000).times(351).div(365);
    const [row] = rowsOf([
      fee({ fee_type: 'subscription', units: decimal(1), precise_unit_amount: price, amount_cents: 1153973 }),
    ]);
    expect(row?.slice(2)).toEqual(['1', '€11,539.73', '20%', '€11,539.73']);
  });

  test.each([
    [
      'graduated',
      {
        graduated_ranges: [
          {
            from_value: '0.0',
            to_value: '10.0',
            units: '10.0',
            per_unit_amount: '10.0',
            flat_unit_amount: '2.0',
            per_unit_total_amount: '100.0',
            total_with_flat_amount: '102.0',
          },
          {
            from_value: '11.0',
            to_value: null,
            units: '2.0',
            per_unit_amount: '5.0',
            flat_unit_amount: '0.0',
            per_unit_total_amount: '10.0',
            total_with_flat_amount: '10.0',
          },
        ],
      },
      [
        ['detail', '0 to 10', '10', '€10.00', '', '€100.00'],
        ['detail', 'Flat fee (0 to 10)', '1', '€2.00', '', '€2.00'],
        ['detail', '11 and above', '2', '€5.00', '', '€10.00'],
      ],
    ],
    [
      'package',
      { free_units: '5.0', paid_units: '10.01', per_package_size: 10, per_package_unit_amount: '100.0' },
      [
        ['detail', 'Free units', '5', '', '', ''],
        ['detail', 'Packages (10)', '2', '€100.00', '', '€200.00'],
      ],
    ],
    [
      'percentage',
      {
        free_units: '0.0',
        paid_units: '1000.0',
        rate: '1.5',
        per_unit_total_amount: '15.0',
        paid_events: 3,
        fixed_fee_unit_amount: '0.2',
        fixed_fee_total_amount: '0.6',
      },
      [
        ['detail', 'Rate', '1,000', '1.5%', '', '€15.00'],
        ['detail', 'Flat fee', '3', '€0.20', '', '€0.60'],
      ],
    ],
  ])('the details of a %s price are printed below its line', (_model, amount_details, expected) => {
    const [line, ...details] = rowsOf([fee({ charge_id: 'c', amount_details })]);
    expect(line).toEqual(['line', 'Calls', '200', '', '20%', '€10.00']);
    expect(details).toEqual(expected);
  });

  test('a charge beside its own minimum is not called the rest', () => {
    const usage = fee({ charge_id: 'c' });
    const trueUp = fee({ charge_id: 'c', true_up_parent_fee_id: usage.id });
    expect(rowsOf([usage, trueUp]).map(([kind, name]) => [kind, name])).toEqual([
      ['heading', 'Calls'],
      ['part', 'Calls'],
      ['part', 'Minimum spending – true-up'],
    ]);
  });

  test.each([
    ['US', 'LETTER', ['1 rue A', 'Springfield, IL 62701', 'United States']],
    ['DE', 'A4', ['1 rue A', '62701 Springfield', 'IL', 'Germany']],
    ['GB', 'A4', ['1 rue A', 'Springfield', '62701', 'IL', 'United Kingdom']],
    ['JP', 'A4', ['〒62701', 'IL', '1 rue A', 'Springfield', 'Japan']],
  ])('an address in %s is written as its post wants it, on paper %s', (country, paper, lines) => {
    const model = modelOf([], {}, { country, state: 'IL', city: 'Springfield', zipcode: '62701' });
    expect([model.paper, ...model.parties[1]!.lines.slice(1)]).toEqual([paper, ...lines]);
  });

  test('the table of an invoice without subscription has no title', () => {
    const oneOff = {
      ...parts([fee({ subscription_id: null, fee_type: 'add_on', item_name: 'Setup' })]),
      subscriptions: [],
    };
    const model = invoiceModel(oneOff, printed(), [], english);
    expect(model.tables).toMatchObject([
      { title: null, rows: [{ cells: ['Setup', '200', '€0.05', '20%', '€10.00'] }] },
    ]);
  });
});

describe('payments shown on a printed invoice', () => {
  const on = (date: string, amount_cents: number): PaidPart => ({
    created_at: Temporal.Instant.from(`${date}T12:00:00Z`),
    amount_cents,
  });
  const TOTAL = { label: 'Total', value: '€180.00', kind: 'grand' };
  const drawn = (invoice: object, paid: PaidPart[] = []) => {
    const { headline, totals } = modelOf([], invoice, {}, paid);
    const below = totals.slice(totals.findIndex(({ label }) => label === 'Total') + 1);
    return {
      headline,
      total: totals.find(({ label }) => label === 'Total'),
      below: below.map(({ label, value }) => [label, value]),
    };
  };

  test.each([
    ['none', {}, [], { text: '€180.00 due', note: 'Payable until May 1, 2026' }, []],
    [
      'two that pay a part',
      { total_paid_amount_cents: 8000 },
      [on('2026-04-10', 5000), on('2026-04-12', 3000)],
      { text: '€100.00 due', note: 'Payable until May 1, 2026' },
      [
        ['Paid on Apr 10, 2026', '-€50.00'],
        ['Paid on Apr 12, 2026', '-€30.00'],
        ['Left to pay', '€100.00'],
      ],
    ],
    [
      'one that pays all',
      { total_paid_amount_cents: 18000, payment_status: 'succeeded' },
      [on('2026-04-10', 18000)],
      { text: '€180.00 paid', note: 'Paid on Apr 10, 2026' },
      [
        ['Paid on Apr 10, 2026', '-€180.00'],
        ['Left to pay', '€0.00'],
      ],
    ],
    [
      'a success that was set by hand',
      { payment_status: 'succeeded' },
      [],
      { text: '€180.00 paid', note: 'Paid' },
      [
        ['Paid', '-€180.00'],
        ['Left to pay', '€0.00'],
      ],
    ],
    [
      'one that pays all but what was given up and credited',
      {
        total_paid_amount_cents: 10000,
        total_written_off_amount_cents: 3000,
        total_offsetted_credit_note_amount_cents: 5000,
      },
      [on('2026-04-10', 10000)],
      { text: '€100.00 paid', note: 'Paid on Apr 10, 2026' },
      [
        ['Paid on Apr 10, 2026', '-€100.00'],
        ['Credited', '-€50.00'],
        ['Written off', '-€30.00'],
        ['Left to pay', '€0.00'],
      ],
    ],
    [
      'none, since all was given up',
      { total_written_off_amount_cents: 18000 },
      [],
      null,
      [
        ['Written off', '-€180.00'],
        ['Left to pay', '€0.00'],
      ],
    ],
  ] as const)('a printed invoice shows its payments: %s', (_what, invoice, paid, headline, below) => {
    expect(drawn(invoice, [...paid])).toEqual({ headline, total: TOTAL, below });
  });
});

describe('languages of documents', () => {
  test('a document uses the customer’s language, then the billing entity’s, then English', () => {
    const locale = (customers: string | null, entitys: string | null) => languageOf(customers, entitys).locale;
    expect(locale('de', 'fr')).toBe('de');
    expect(locale(null, 'fr')).toBe('fr');
    expect(locale('xx', null)).toBe('en');
    expect(locale('zh-TW', null)).toBe('zh-TW');
  });

  test.each([
    ['en', 'USD', '$1,234,567.89', 'Apr 1, 2026', '19.5%'],
    ['de', 'EUR', '1.234.567,89 €', '01.04.2026', '19,5 %'],
    ['fr', 'EUR', '1 234 567,89 €', '1 avr. 2026', '19,5 %'],
    ['sv', 'SEK', '1 234 567,89 kr', '1 apr. 2026', '19,5 %'],
    ['pt-BR', 'BRL', 'R$ 1.234.567,89', '1 de abr. de 2026', '19,5%'],
    ['en', 'JPY', '¥123,456,789', 'Apr 1, 2026', '19.5%'],
    ['en', 'KWD', 'KWD 123,456.789', 'Apr 1, 2026', '19.5%'],
    ['en', 'HUF', 'HUF 1,234,567.89', 'Apr 1, 2026', '19.5%'],
  ] as const)('a document in %s writes %s as %s', (locale, currency, amount, date, percent) => {
    const format = formatOf(locale, currency, 'UTC');
    const spaced = (text: string) => text.replace(/[\u00a0\u202f]/g, ' ');
    expect(spaced(format.amount(123456789))).toBe(amount);
    expect(spaced(format.date(day('2026-04-01')))).toBe(date);
    expect(spaced(format.percent('19.5'))).toBe(percent);
  });

  test('amounts beyond the precision of a double keep their digits', () => {
    expect(formatOf('en', 'USD', 'UTC').price('123456789012345678.123456789')).toBe(
      '$123,456,789,012,345,678.123456789',
    );
  });

  test.each(LOCALES)('an invoice in %s has every word, filled in, and can be drawn', async (locale) => {
    const language = languageOf(locale, null);
    const model = invoiceModel(parts([fee({ charge_id: 'c' })]), printed(), [], language);
    const texts = JSON.stringify({ ...model, pageLabel: '' });
    expect(texts).not.toMatch(/\{[a-z]+\}/);
    expect(model.pageLabel).toMatch(/\{page\}.*\{pages\}/);
    const { bytes } = await draw(model, null);
    expect(Buffer.from(bytes.subarray(0, 5)).toString()).toBe('%PDF-');
  });

  test('a logo that is not an image is left out', async () => {
    const model = {
      ...invoiceModel(parts([]), printed(), [], english),
      logo: 'data:image/png;base64,bm90IGEgcGljdHVyZQ==',
    };
    expect(Buffer.from((await draw(model, null)).bytes.subarray(0, 5)).toString()).toBe('%PDF-');
  });
});
