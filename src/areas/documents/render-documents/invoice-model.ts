import { isAfter, isBefore } from '../../../engine/calendar/instants.ts';
import type { Period } from '../../../engine/calendar/period.ts';
import { taxedApartFromNet } from '../../../engine/invoices/taxed-net.ts';
import { cents } from '../../../engine/money/cents.ts';
import type { DocumentModel, DocumentTable, Fact, Note, Total } from '../../../platform/documents/model.ts';
import { dueOf, isOver } from '../../invoices/invoices/amount-due.ts';
import { creditView } from '../../invoices/invoices/credits-of-invoice.ts';
import type { InvoiceRow } from '../../invoices/invoices/queries.ts';
import type { InvoiceParts } from '../../invoices/invoices/view.ts';
import { type Format, fill, formatOf } from '../../messaging/documents/number-and-date-formats.ts';
import type { Language } from '../../messaging/documents/texts/by-locale.ts';
import type { DocumentTexts } from '../../messaging/documents/texts/document-texts.ts';
import { subscriptionName } from '../../subscriptions/subscriptions/printed-name.ts';
import { feeRows } from './fee-rows.ts';
import { paperOf, partiesOf } from './party.ts';
import type { PaidPart, Printed } from './printed-invoice.ts';
import { printedTaxes } from './printed-taxes.ts';

/**
 * Contents of the document of an invoice: the parties, each fee below its subscription, the totals, payments and
 * write-offs up to the drawing, the due amount with its date, custom sections and the issuer's footer.
 *
 * Rules: invoice-amounts.md#amounts, invoices.md#custom-sections, invoice-operations.md#operations.
 */
export function invoiceModel(
  parts: InvoiceParts,
  printed: Printed,
  paid: readonly PaidPart[],
  { locale, texts }: Language,
): DocumentModel {
  const { invoice } = parts;
  const format = formatOf(locale, invoice.currency, invoice.timezone);
  return {
    language: locale,
    title: invoice.self_billed ? texts.titles.selfBilledInvoice : texts.titles.invoice,
    number: invoice.number,
    logo: printed.logo_url,
    paper: paperOf(parts, printed),
    facts: factsOf(parts, printed, texts, format),
    parties: partiesOf(parts, printed, texts, format),
    headline: headlineOf(parts, paid, texts, format),
    columns: [
      { label: texts.item, isFigure: false },
      ...[texts.units, texts.unitPrice, texts.tax, texts.amount].map((label) => ({ label, isFigure: true })),
    ],
    tables: tablesOf(parts, texts, format),
    totals: [...totalsOf(parts, texts, format), ...settledTotals(parts, paid, texts, format)],
    notes: notesOf(parts, printed, texts, format),
    pageLabel: texts.page,
  };
}

/** The amount to pay and its date; for a paid invoice a note that it is paid. */
function headlineOf(
  { invoice }: InvoiceParts,
  paid: readonly PaidPart[],
  texts: DocumentTexts,
  format: Format,
): DocumentModel['headline'] {
  const left = leftToPay(invoice);
  if (left > 0)
    return {
      text: fill(texts.amountDue, { amount: format.amount(left) }),
      note: fill(texts.payableUntil, { date: format.date(invoice.payment_due_date) }),
    };
  const settled = invoice.total_amount_cents - invoice.total_written_off_amount_cents - creditedOf(invoice);
  if (settled <= 0) return null;
  const last = paid.at(-1);
  return {
    text: fill(texts.amountPaid, { amount: format.amount(settled) }),
    note: last ? `${texts.paidOn} ${format.date(dayOf(last, invoice.timezone))}` : texts.paid,
  };
}

/** An invoice that was marked as paid has nothing left to pay, although no payment was recorded. */
export const leftToPay = (invoice: InvoiceRow): number =>
  invoice.payment_status === 'succeeded' ? 0 : Math.max(dueOf(invoice), 0);

const creditedOf = (invoice: InvoiceRow): number => invoice.total_offsetted_credit_note_amount_cents;

const dayOf = ({ created_at }: PaidPart, timezone: string) => created_at.toZonedDateTimeISO(timezone).toPlainDate();

/**
 * Rows below the total: payments, settlements by credit notes, write-offs and the rest; none while everything is due.
 */
function settledTotals(
  { invoice }: InvoiceParts,
  paid: readonly PaidPart[],
  texts: DocumentTexts,
  format: Format,
): Total[] {
  const takenOff = (label: string, cents: number): Total[] =>
    cents === 0 ? [] : [{ label, value: format.amount(-cents), kind: 'plain' }];
  const left = leftToPay(invoice);
  const known = paid.reduce((total, part) => total + part.amount_cents, 0);
  const marked =
    invoice.total_amount_cents - known - creditedOf(invoice) - invoice.total_written_off_amount_cents - left;
  const rows = [
    ...paid.flatMap((part) =>
      takenOff(`${texts.paidOn} ${format.date(dayOf(part, invoice.timezone))}`, part.amount_cents),
    ),
    ...takenOff(texts.paid, isOver(invoice) ? 0 : marked),
    ...takenOff(texts.credited, creditedOf(invoice)),
    ...takenOff(texts.writtenOff, invoice.total_written_off_amount_cents),
  ];
  return rows.length === 0 ? [] : [...rows, { label: texts.leftToPay, value: format.amount(left), kind: 'grand' }];
}

function factsOf({ invoice, fees }: InvoiceParts, { customer }: Printed, texts: DocumentTexts, format: Format): Fact[] {
  return [
    { label: texts.number, value: invoice.number },
    { label: texts.issuedOn, value: format.date(invoice.issuing_date) },
    { label: texts.dueOn, value: format.date(invoice.payment_due_date) },
    ...(invoice.net_payment_term === 0
      ? []
      : [{ label: texts.paymentTerm, value: format.days(invoice.net_payment_term) }]),
    ...(invoice.purchase_order_number === null
      ? []
      : [{ label: texts.purchaseOrder, value: invoice.purchase_order_number }]),
    ...servicePeriodOf(fees, texts, format),
    ...(customer?.metadata ?? [])
      .filter((item) => item.display_in_invoice)
      .map(({ key, value }) => ({ label: key, value })),
  ];
}

/** From the first to the last instant that a fee is for; none where all are for one instant, as one-off ones may be. */
function servicePeriodOf(fees: InvoiceParts['fees'], texts: DocumentTexts, format: Format): Fact[] {
  let period: Period | undefined;
  for (const { from_datetime: from, to_datetime: to } of fees) {
    if (from === null || to === null || !isAfter(to, from)) continue;
    period = {
      from: period === undefined || isBefore(from, period.from) ? from : period.from,
      to: period === undefined || isAfter(to, period.to) ? to : period.to,
    };
  }
  return period === undefined ? [] : [{ label: texts.servicePeriod, value: format.period(period) }];
}

/** A table for each subscription, in the order of the lines, and one for all that belongs to no subscription. */
function tablesOf({ fees, subscriptions }: InvoiceParts, texts: DocumentTexts, format: Format): DocumentTable[] {
  const tables = subscriptions.map((subscription): DocumentTable => {
    const title = subscriptionName(subscription);
    const own = fees.filter((fee) => fee.subscription_id === subscription.id);
    return { title, rows: feeRows(own, title, texts, format) };
  });
  const known = new Set(subscriptions.map(({ id }) => id));
  const others = fees.filter((fee) => fee.subscription_id === null || !known.has(fee.subscription_id));
  const rest = {
    title: subscriptions.length === 0 ? null : texts.otherItems,
    rows: feeRows(others, null, texts, format),
  };
  return [...tables, rest].filter(({ rows }) => rows.length > 0);
}

function totalsOf({ invoice, credits }: InvoiceParts, texts: DocumentTexts, format: Format): Total[] {
  const plain = (label: string, cents: number): Total => ({ label, value: format.amount(cents), kind: 'plain' });
  const sum = (label: string, cents: number): Total => ({ ...plain(label, cents), kind: 'sum' });
  const takenOff = (label: string, cents: number): Total[] => (cents === 0 ? [] : [plain(label, -cents)]);
  const before = [
    ...takenOff(texts.progressiveCredit, invoice.progressive_billing_credit_amount_cents),
    ...couponTotals(credits, invoice.coupons_amount_cents, texts, plain),
  ];
  const after = [
    ...takenOff(texts.creditNotes, invoice.credit_notes_amount_cents),
    ...takenOff(texts.prepaidCredits, invoice.prepaid_credit_amount_cents),
  ];
  const taxCents = printedTaxes(
    invoice.applied_taxes.map((tax) => ({ ...tax, baseCents: tax.fees_amount_cents })),
    invoice.taxes_amount_cents,
  );
  const taxes = invoice.applied_taxes.map((tax, index) =>
    plain(
      fill(texts.taxOn, {
        name: tax.tax_name,
        rate: format.percent(tax.tax_rate),
        base: format.amount(tax.fees_amount_cents),
      }),
      taxCents[index]!,
    ),
  );
  return [
    plain(texts.subTotal, invoice.fees_amount_cents),
    ...before,
    ...(before.length === 0 ? [] : [sum(texts.netTotal, invoice.sub_total_excluding_taxes_amount_cents)]),
    ...(taxes.length === 0 ? [plain(texts.noTax, 0)] : taxes),
    ...(after.length === 0 ? [] : [sum(texts.grossTotal, invoice.sub_total_including_taxes_amount_cents), ...after]),
    { ...sum(texts.total, invoice.total_amount_cents), kind: 'grand' },
  ];
}

/** Each coupon by its name, where the invoice distinguishes them. */
function couponTotals(
  credits: InvoiceParts['credits'],
  totalCents: number,
  texts: DocumentTexts,
  plain: (label: string, cents: number) => Total,
): Total[] {
  if (totalCents === 0) return [];
  const coupons = credits
    .map((credit) => ({ cents: credit.amount_cents, item: creditView(credit).item as { type: string; name: string } }))
    .filter(({ item }) => item.type === 'coupon');
  if (coupons.length === 0) return [plain(texts.coupons, -totalCents)];
  return coupons.map(({ cents, item }) => plain(`${texts.coupons}: ${item.name}`, -cents));
}

function notesOf(parts: InvoiceParts, { issuer }: Printed, texts: DocumentTexts, format: Format): Note[] {
  const { invoice } = parts;
  return [
    ...taxedNote(parts, texts, format),
    ...(invoice.self_billed ? [{ title: null, text: texts.selfBilledNote }] : []),
    ...invoice.applied_sections.map(({ name, display_name, details }) => ({
      title: display_name ?? name,
      text: details ?? '',
    })),
    ...(issuer.invoice_footer ? [{ title: null, text: issuer.invoice_footer }] : []),
  ];
}

/**
 * Where taxes apply to another amount than the net total, the document shows that amount, because readers could not
 * compute them otherwise.
 */
function taxedNote({ invoice, fees }: InvoiceParts, texts: DocumentTexts, format: Format): Note[] {
  const netCents = invoice.sub_total_excluding_taxes_amount_cents;
  const taxed = taxedApartFromNet(
    netCents,
    fees.map((fee) => ({
      amountCents: cents(fee.amount_cents),
      preciseAllowanceCents: fee.precise_coupons_amount_cents,
    })),
  );
  if (taxed === undefined || invoice.applied_taxes.length === 0) return [];
  const text = fill(texts.taxedApart, { base: format.amount(taxed), net: format.amount(netCents) });
  return [{ title: null, text }];
}
