import { describe, expect, test } from 'vitest';
import {
  defaultNumberPrefix,
  draftNumber,
  seriesOfBillingEntity,
  seriesOfCustomer,
} from '../../../src/engine/invoices/invoice-number.ts';
import {
  type DatedInvoice,
  type DateSettings,
  dateSettings,
  datesAtCreation,
  datesAtFinalization,
  type InvoiceDates,
  type IssuingDateAdjustment,
  type IssuingDateAnchor,
} from '../../../src/engine/invoices/issuing-and-due-dates.ts';
import { date } from '../calendar/build.ts';

const settings = (changes: Partial<DateSettings> = {}): DateSettings => ({
  invoice_grace_period: 0,
  net_payment_term: 30,
  subscription_invoice_issuing_date_anchor: 'next_period_start',
  subscription_invoice_issuing_date_adjustment: 'align_with_finalization_date',
  ...changes,
});

const periodic = (changes: Partial<DateSettings> = {}): DatedInvoice => ({
  invoiceType: 'subscription',
  isRecurring: true,
  isInAdvanceCharge: false,
  settings: settings(changes),
});

const shown = (dates: InvoiceDates) =>
  [dates.issuingDate, dates.paymentDueDate, dates.expectedFinalizationDate].map((day) => day.toString().slice(5));

describe('dates of a periodic invoice run 2024-03-01, net 30 (invoices.md#dates)', () => {
  test.each<[IssuingDateAnchor, IssuingDateAdjustment, number, string, string, string]>([
    // anchor, adjustment, grace → issued, due, finalization expected
    ['next_period_start', 'align_with_finalization_date', 0, '03-01', '03-31', '03-01'],
    ['next_period_start', 'align_with_finalization_date', 3, '03-04', '04-03', '03-04'],
    ['next_period_start', 'keep_anchor', 0, '03-01', '03-31', '03-01'],
    ['next_period_start', 'keep_anchor', 3, '03-01', '03-31', '03-04'],
    ['current_period_end', 'keep_anchor', 0, '02-29', '03-30', '03-01'],
    ['current_period_end', 'keep_anchor', 3, '02-29', '03-30', '03-04'],
    ['current_period_end', 'align_with_finalization_date', 0, '02-29', '03-30', '03-01'],
    ['current_period_end', 'align_with_finalization_date', 3, '03-04', '04-03', '03-04'],
  ])(
    'a periodic invoice is dated by %s and %s with a grace period of %s days',
    (anchor, adjustment, grace, ...expected) => {
      const invoice = periodic({
        invoice_grace_period: grace,
        subscription_invoice_issuing_date_anchor: anchor,
        subscription_invoice_issuing_date_adjustment: adjustment,
      });
      expect(shown(datesAtCreation(invoice, date('2024-03-01')))).toEqual(expected);
    },
  );
});

describe('dates of other invoices (invoices.md#dates)', () => {
  const odd = {
    invoice_grace_period: 3,
    subscription_invoice_issuing_date_anchor: 'current_period_end',
    subscription_invoice_issuing_date_adjustment: 'keep_anchor',
  } as const;

  test('the invoice of a start or a termination waits for its grace period, whatever the anchor', () => {
    const invoice = { ...periodic(odd), isRecurring: false };
    expect(shown(datesAtCreation(invoice, date('2024-03-01')))).toEqual(['03-04', '04-03', '03-04']);
  });

  test.each<Partial<DatedInvoice>>([
    { invoiceType: 'one_off' },
    { invoiceType: 'credit' },
    { isInAdvanceCharge: true },
  ])('an invoice with %o is issued and final on its day', (changes) => {
    const invoice = { ...periodic(odd), ...changes };
    const dates = datesAtCreation(invoice, date('2024-03-01'));
    expect(shown(dates)).toEqual(['03-01', '03-31', '03-01']);
    expect(shown(datesAtFinalization(invoice, dates, date('2024-03-02')))).toEqual(['03-01', '03-31', '03-01']);
  });
});

describe('dates at finalization (invoices.md#dates)', () => {
  const finalized = (invoice: DatedInvoice, today: string) =>
    shown(datesAtFinalization(invoice, datesAtCreation(invoice, date('2024-03-01')), date(today)));

  test('a periodic invoice is dated on the day of finalization unless it keeps its anchor', () => {
    expect(finalized(periodic({ invoice_grace_period: 3 }), '2024-03-05')).toEqual(['03-05', '04-04', '03-04']);
    const kept = periodic({ invoice_grace_period: 3, subscription_invoice_issuing_date_adjustment: 'keep_anchor' });
    expect(finalized(kept, '2024-03-05')).toEqual(['03-01', '03-31', '03-04']);
  });

  test('any other subscription invoice is dated on the day of finalization', () => {
    const kept = periodic({ invoice_grace_period: 3, subscription_invoice_issuing_date_adjustment: 'keep_anchor' });
    expect(finalized({ ...kept, isRecurring: false }, '2024-03-05')).toEqual(['03-05', '04-04', '03-04']);
  });

  test('the payment term stored with the invoice applies, not a newer one', () => {
    const dates = datesAtCreation(periodic(), date('2024-03-01'));
    const later = periodic({ net_payment_term: 5 });
    expect(datesAtFinalization(later, dates, date('2024-03-01')).paymentDueDate.toString()).toBe('2024-03-31');
  });
});

test('a customer inherits date settings that it leaves empty, and 0 is not empty', () => {
  const none = {
    invoice_grace_period: null,
    net_payment_term: null,
    subscription_invoice_issuing_date_anchor: null,
    subscription_invoice_issuing_date_adjustment: null,
  };
  const entity = settings({ invoice_grace_period: 3 });
  expect(dateSettings(none, entity)).toEqual(entity);
  expect(dateSettings({ ...none, invoice_grace_period: 0, net_payment_term: 0 }, entity)).toEqual({
    ...entity,
    invoice_grace_period: 0,
    net_payment_term: 0,
  });
});

describe('numbers (invoices.md#numbers)', () => {
  test('an invoice is numbered within its customer (G72, G74)', () => {
    expect(seriesOfCustomer('BENT-1', 1)).toBe('BENT-1-001-');
    expect(seriesOfCustomer('BENT-1', 3)).toBe('BENT-1-003-');
    expect(seriesOfCustomer('BENT-11', 1)).toBe('BENT-11-001-');
  });

  test('an invoice is numbered within its billing entity and month (G73)', () => {
    expect(seriesOfBillingEntity('BENT-11', date('2023-10-09'))).toBe('BENT-11-202310-');
  });

  test('long sequence numbers are not cut', () => {
    expect(seriesOfCustomer('A', 1234)).toBe('A-1234-');
  });

  test('drafts have no number', () => {
    expect(draftNumber('BENT-1')).toBe('BENT-1-DRAFT');
  });

  test.each([
    ['Acme', '0190a3c1-0000-7000-8000-000000004f2a', 'ACM-4F2A'],
    ['Straße', '0190a3c1-0000-7000-8000-00000000abcd', 'STR-ABCD'],
    ['ßßß', '0190a3c1-0000-7000-8000-00000000abcd', 'SSS-ABCD'],
    ['X', '0190a3c1-0000-7000-8000-00000000abcd', 'X-ABCD'],
  ])('the number prefix of %s is derived', (name, id, prefix) => {
    expect(defaultNumberPrefix(name, id)).toBe(prefix);
  });
});
