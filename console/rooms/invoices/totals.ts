import { money } from '../../parts/amounts.ts';
import { customerName } from '../../parts/records.ts';
import type { SumStep } from '../../parts/sum-steps.tsx';
import { day } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';
import type { FullInvoice } from './invoice.tsx';

/** The way from the sum of fees to what is due, without steps that change nothing. */
export function stepsOf(invoice: FullInvoice): SumStep[] {
  const less = (text: string, cents: number): SumStep[] => (cents === 0 ? [] : [{ text, cents: -cents }]);
  const steps: SumStep[] = [
    { text: t.invoices.fees, cents: invoice.fees_amount_cents },
    ...less(t.invoices.progressiveCredit, invoice.progressive_billing_credit_amount_cents),
    ...less(t.invoices.coupons, invoice.coupons_amount_cents),
    { text: t.invoices.beforeTaxes, cents: invoice.sub_total_excluding_taxes_amount_cents, isTotal: true },
    ...invoice.applied_taxes.map(({ tax_name, tax_rate, amount_cents }) => ({
      text: `${tax_name}, ${tax_rate} %`,
      cents: amount_cents,
    })),
    { text: t.invoices.withTaxes, cents: invoice.sub_total_including_taxes_amount_cents, isTotal: true },
    ...less(t.invoices.creditNotes, invoice.credit_notes_amount_cents),
    ...less(t.invoices.wallet, invoice.prepaid_credit_amount_cents),
    { text: t.invoices.total, cents: invoice.total_amount_cents, isTotal: true },
    ...less(t.invoices.paid, invoice.total_paid_amount_cents),
    ...less(t.invoices.offset, invoice.total_offsetted_credit_note_amount_cents),
    ...less(t.invoices.writtenOff, invoice.total_written_off_amount_cents),
  ];
  // A subtotal that only repeats the figure above it says nothing.
  const told = steps.filter(
    ({ cents, isTotal }, index) => !isTotal || index === 0 || cents !== steps[index - 1]!.cents,
  );
  return [...told, { text: t.invoices.due, cents: invoice.total_due_amount_cents, isTotal: true }];
}

/** The same facts as plain text, to paste into an answer to the customer. */
export function factsOf(invoice: FullInvoice): string {
  const lines = invoice.fees.map(({ item, units, amount_cents }) =>
    t.invoices.copiedFee(item.invoice_display_name || item.name, units, money(amount_cents, invoice.currency)),
  );
  return [
    t.invoices.copiedHead(invoice.number, customerName(invoice.customer), day(invoice.issuing_date)),
    ...lines,
    ...stepsOf(invoice).map(({ text, cents }) => `${text}: ${money(cents, invoice.currency)}`),
  ].join('\n');
}
