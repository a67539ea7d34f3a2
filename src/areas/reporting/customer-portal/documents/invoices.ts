import { type Html, html } from '../../../../platform/html.ts';
import { fill } from '../../../messaging/documents/number-and-date-formats.ts';
import { transferOf } from '../../../payments/payments/transfer-instructions.ts';
import { type Frame, formOf, may } from '../frame.ts';
import { badge, button, fileOf } from '../parts.ts';
import { isToPay, type PaymentState, paymentStateOf } from '../payment-state.ts';
import type { PortalInvoice } from '../queries.ts';

const BADGES: Readonly<Record<PaymentState, string>> = {
  paid: 'good',
  settled: 'good',
  writtenOff: '',
  underWay: 'wait',
  partlyPaid: 'wait',
  open: 'wait',
  overdue: 'bad',
  failed: 'bad',
};

/** Invoices with number, days, state and amount in columns; what can be done at the end of each line. */
export function invoiceTable(frame: Frame, invoices: readonly PortalInvoice[]): Html {
  const { words, documents } = frame.language;
  return html`<div class="card list"><table>
<thead><tr><th scope="col">${documents.titles.invoice}</th><th scope="col" class="text">${words.state}</th><th scope="col">${documents.amount}</th><th scope="col"><span class="hidden">${words.deeds}</span></th></tr></thead>
<tbody>${invoices.map((invoice) => invoiceLine(frame, invoice))}</tbody></table></div>`;
}

function invoiceLine(frame: Frame, invoice: PortalInvoice): Html {
  const { words, documents } = frame.language;
  const format = frame.formatOf(invoice.currency);
  const { due_amount_cents: due, total_amount_cents: total } = invoice;
  const state = paymentStateOf(invoice);
  const isOwed = due > 0 && state !== 'paid';
  return html`<tr><th scope="row">${invoice.number}<span class="soft">${frame.date(invoice.issuing_date)}</span></th>
<td class="text">${badge(BADGES[state], words.payment[state])}${hintsOf(frame, invoice, state).map((hint) => html`<span class="soft">${hint}</span>`)}</td>
<td class="sum">${format.amount(total)}${isOwed && due !== total && html`<span class="soft">${fill(documents.amountDue, { amount: format.amount(due) })}</span>`}</td>
<td class="deed"><div class="acts">${payForm(frame, invoice)}${fileOf(frame, 'invoices', invoice)}</div></td></tr>
`;
}

function hintsOf(frame: Frame, invoice: PortalInvoice, state: PaymentState): string[] {
  const { documents } = frame.language;
  const { payment_due_date: dueOn, expected_settlement_date: expectedOn, paid_at: paidAt } = invoice;
  if (state === 'paid') return paidAt === null ? [] : [`${documents.paidOn} ${frame.day(paidAt)}`];
  if (invoice.due_amount_cents <= 0) return [];
  return [
    fill(documents.payableUntil, { date: frame.date(dueOn) }),
    ...(expectedOn === null ? [] : [fill(frame.pay.expectedOn, { date: frame.date(expectedOn) })]),
    ...(invoice.under_way === 'transfer' ? transferHints(frame, invoice) : []),
  ];
}

/** The account to which the customer transfers the money, and what to quote; the pay page says it in full. */
function transferHints({ language: { documents } }: Frame, { next_action }: PortalInvoice): string[] {
  const transfer = transferOf(next_action ?? {});
  const quoted = transfer?.reference ? [[documents.reference, transfer.reference] as const] : [];
  return [...(transfer?.numbers ?? []), ...quoted].map(([name, value]) => `${name} ${value}`);
}

/** The button that leads to where the invoice is paid, or its payment confirmed. */
export function payForm(frame: Frame, invoice: PortalInvoice, style = 'small'): Html | false {
  if (!may(frame, 'pay') || !isToPay(invoice)) return false;
  const label = invoice.under_way === 'confirm' ? frame.pay.confirm.button : frame.language.words.pay;
  return formOf(frame, `invoices/${invoice.id}/pay`, button(label, { about: invoice.number, style }), {
    leaves: true,
  });
}
