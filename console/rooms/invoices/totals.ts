import { money } from '../../parts/amounts.ts';
import { customerName } from '../../parts/records.ts';
import type { SumStep } from '../../parts/sum-steps.tsx';
import { day } from '../../parts/times.tsx';
import type { FullInvoice } from './invoice.tsx';

/** The way from the sum of fees to what is due, without steps that change nothing. */
export function stepsOf(invoice: FullInvoice): SumStep[] {
  const less = (text: string, cents: number): SumStep[] => (cents === 0 ? [] : [{ text, cents: -cents }]);
  const steps: SumStep[] = [
    { text: 'Fees', cents: invoice.fees_amount_cents },
    ...less('Billed before, when a threshold was passed', invoice.progressive_billing_credit_amount_cents),
    ...less('Coupons', invoice.coupons_amount_cents),
    { text: 'Before taxes', cents: invoice.sub_total_excluding_taxes_amount_cents, isTotal: true },
    ...invoice.applied_taxes.map(({ tax_name, tax_rate, amount_cents }) => ({
      text: `${tax_name}, ${tax_rate} %`,
      cents: amount_cents,
    })),
    { text: 'With taxes', cents: invoice.sub_total_including_taxes_amount_cents, isTotal: true },
    ...less('Credit notes', invoice.credit_notes_amount_cents),
    ...less('Wallet', invoice.prepaid_credit_amount_cents),
    { text: 'Total', cents: invoice.total_amount_cents, isTotal: true },
    ...less('Paid', invoice.total_paid_amount_cents),
    ...less('Offset by credit notes', invoice.total_offsetted_credit_note_amount_cents),
    ...less('Written off', invoice.total_written_off_amount_cents),
  ];
  // A subtotal that only repeats the figure above it says nothing.
  const told = steps.filter(
    ({ cents, isTotal }, index) => !isTotal || index === 0 || cents !== steps[index - 1]!.cents,
  );
  return [...told, { text: 'Still due', cents: invoice.total_due_amount_cents, isTotal: true }];
}

/** The same facts as plain text, to paste into an answer to the customer. */
export function factsOf(invoice: FullInvoice): string {
  const lines = invoice.fees.map(
    ({ item, units, amount_cents }) =>
      `- ${item.invoice_display_name || item.name}: ${units} units, ${money(amount_cents, invoice.currency)}`,
  );
  return [
    `Invoice ${invoice.number} to ${customerName(invoice.customer)}, issued ${day(invoice.issuing_date)}`,
    ...lines,
    ...stepsOf(invoice).map(({ text, cents }) => `${text}: ${money(cents, invoice.currency)}`),
  ].join('\n');
}
