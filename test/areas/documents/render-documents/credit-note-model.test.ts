import { Temporal } from 'temporal-polyfill';
import { expect, test } from 'vitest';
import {
  type CreditNoteParts,
  creditNoteModel,
} from '../../../../src/areas/documents/render-documents/credit-note-model.ts';
import type { Printed } from '../../../../src/areas/documents/render-documents/printed-invoice.ts';
import { languageOf } from '../../../../src/areas/messaging/documents/texts/by-locale.ts';

// The document of a credit note: credit-notes.md#parts, credit-note-amounts.md#rounding.
const party = (number: string) => ({
  address_line1: null,
  address_line2: null,
  city: null,
  state: null,
  zipcode: null,
  country: null,
  email: null,
  phone: null,
  legal_number: null,
  tax_identification_number: number,
});
const printed = {
  issuer: { ...party('DE136695976'), name: 'Acme', legal_name: 'Acme GmbH', invoice_footer: null },
  customer: {
    ...party('30/123/45678'),
    name: 'Ada',
    legal_name: null,
    firstname: null,
    lastname: null,
    external_id: 'ada',
    shipping_address: party(''),
    metadata: [],
  },
  logo_url: null,
  customer_locale: null,
} as unknown as Printed;
const parts = {
  note: {
    number: 'ACM-001-CN001',
    invoice_number: 'ACM-001',
    issuing_date: Temporal.PlainDate.from('2026-04-20'),
    purchase_order_number: null,
    currency: 'EUR',
    items: [],
    applied_taxes: [],
    reason: 'order_change',
    description: null,
    credit_amount_cents: 600,
    refund_amount_cents: 400,
    offset_amount_cents: 0,
    sub_total_excluding_taxes_amount_cents: 1000,
    coupons_adjustment_amount_cents: 0,
    total_amount_cents: 1000,
  },
  invoice: {
    invoice: { timezone: 'UTC', self_billed: false, issuing_date: Temporal.PlainDate.from('2026-04-01') },
    customer: {},
  },
  fees: new Map(),
} as unknown as CreditNoteParts;

test.each([
  ['de', 'Gutschriftsnummer', 'Gutschriftsdatum', 'Rechnungsnummer', 'Rechnungsdatum', 'Grund'],
  ['en', 'Credit note number', 'Date of credit note', 'Invoice number', 'Invoice date', 'Reason'],
  [
    'es',
    'Número de nota de crédito',
    'Fecha de la nota de crédito',
    'Número de factura',
    'Fecha de la factura',
    'Motivo',
  ],
  ['fr', 'Numéro d’avoir', 'Date de l’avoir', 'Numéro de facture', 'Date de la facture', 'Motif'],
  ['it', 'Numero nota di credito', 'Data della nota di credito', 'Numero fattura', 'Data fattura', 'Motivo'],
  ['nb', 'Kreditnotanummer', 'Kreditnotadato', 'Fakturanummer', 'Fakturadato', 'Årsak'],
  ['pt-BR', 'Número da nota de crédito', 'Data da nota de crédito', 'Número da fatura', 'Data da fatura', 'Motivo'],
  ['sv', 'Kreditfakturanummer', 'Kreditfakturadatum', 'Fakturanummer', 'Fakturadatum', 'Orsak'],
  ['zh-TW', '折讓單號碼', '折讓單日期', '發票號碼', '發票日期', '原因'],
])('a credit note in %s names number and date of the note and of its invoice apart', (locale, ...labels) => {
  const { facts } = creditNoteModel(parts, printed, languageOf(locale, null));
  expect(facts.map(({ label }) => label)).toEqual(labels);
  expect(facts.map(({ value }) => value.replaceAll(/\D/g, '')).slice(0, 3)).toEqual([
    '001001',
    expect.stringMatching(/20/),
    '001',
  ]);
  expect(facts[1]!.value).not.toBe(facts[3]!.value);
});

test.each([
  ['de', 'USt-IdNr.', 'Steuernummer'],
  ['en', 'VAT number', 'Tax number'],
  ['es', 'NIF-IVA', 'NIF'],
  ['fr', 'Numéro de TVA', 'Numéro fiscal'],
  ['it', 'Partita IVA', 'Codice fiscale / P. IVA'],
  ['nb', 'MVA-nummer', 'Skattenummer'],
  ['pt-BR', 'Número de IVA', 'CNPJ / CPF'],
  ['sv', 'Momsregistreringsnummer', 'Skattenummer'],
  ['zh-TW', '加值稅號碼', '統一編號'],
])('a credit note in %s names a VAT number %s and any other tax number %s', (locale, vat, other) => {
  const [issuer, payer] = creditNoteModel(parts, printed, languageOf(locale, null)).parties;
  expect(issuer!.lines.at(-1)).toBe(`${vat}: DE136695976`);
  expect(payer!.lines.at(-1)).toBe(`${other}: 30/123/45678`);
});

test.each([
  [{ credit_amount_cents: 1000 }, 'Credited to your balance'],
  [{ refund_amount_cents: 1000 }, 'Refunded'],
  [{ offset_amount_cents: 1000 }, 'Offset against invoice ACM-001'],
  [{ credit_amount_cents: 600, refund_amount_cents: 400 }, 'Credited to your balance: €6.00 · Refunded: €4.00'],
])('a credit note says how much it gives and what becomes of it: %o', (ways, note) => {
  const amounts = { credit_amount_cents: 0, refund_amount_cents: 0, offset_amount_cents: 0, ...ways };
  const given = { ...parts, note: { ...parts.note, ...amounts } } as CreditNoteParts;
  const { headline, facts } = creditNoteModel(given, printed, languageOf('en', null));
  expect(headline).toEqual({ text: '€10.00 credited', note });
  expect(facts.at(-1)).toEqual({ label: 'Reason', value: 'Order changed' });
});

test('a credit note and its notes have no footer of an invoice', () => {
  const footed = { ...printed, issuer: { ...printed.issuer, invoice_footer: 'Pay to IBAN 1' } };
  const described = { ...parts, note: { ...parts.note, description: 'Outage' } };
  expect(creditNoteModel(described, footed, languageOf('en', null)).notes).toEqual([{ title: null, text: 'Outage' }]);
});
