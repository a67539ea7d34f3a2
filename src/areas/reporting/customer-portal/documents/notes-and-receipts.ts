import { type Html, html } from '../../../../platform/html.ts';
import { methodName } from '../../../customers/payment-methods/method-name.ts';
import { fill } from '../../../messaging/documents/number-and-date-formats.ts';
import type { Frame } from '../frame.ts';
import { badge, fileOf } from '../parts.ts';
import type { PortalCreditNote, PortalReceipt } from '../queries.ts';
import type { NoteState } from '../texts/portal-texts.ts';

const BADGES: Readonly<Record<NoteState, string>> = {
  available: 'good',
  used: '',
  voided: '',
  refunded: 'good',
  refundPending: 'wait',
  refundFailed: 'bad',
  settling: 'good',
};

/** What became of a credit note: of its refund first, then of its balance; one that settles its invoice has none. */
export function noteStateOf(note: PortalCreditNote): NoteState {
  if (note.refund_amount_cents > 0 && note.credit_amount_cents === 0) {
    if (note.refund_status === 'succeeded') return 'refunded';
    return note.refund_status === 'failed' ? 'refundFailed' : 'refundPending';
  }
  if (note.credit_amount_cents === 0) return 'settling';
  if (note.credit_status === 'voided') return 'voided';
  return note.balance_amount_cents > 0 ? 'available' : 'used';
}

export function noteTable(frame: Frame, notes: readonly PortalCreditNote[]): Html {
  const { words, documents } = frame.language;
  return html`<div class="card list"><table>
<thead><tr><th scope="col">${documents.titles.creditNote}</th><th scope="col" class="text">${words.state}</th><th scope="col">${documents.amount}</th><th scope="col"><span class="hidden">${words.deeds}</span></th></tr></thead>
<tbody>${notes.map((note) => noteLine(frame, note))}</tbody></table></div>`;
}

function noteLine(frame: Frame, note: PortalCreditNote): Html {
  const { words, documents } = frame.language;
  const format = frame.formatOf(note.currency);
  const state = noteStateOf(note);
  const left = note.balance_amount_cents;
  return html`<tr><th scope="row">${note.number}<span class="soft">${frame.date(note.issuing_date)}</span></th>
<td class="text">${badge(BADGES[state], words.noteStates[state])}<span class="soft">${documents.titles.invoice} ${note.invoice_number}</span></td>
<td class="sum">${format.amount(note.total_amount_cents)}${left > 0 && left !== note.total_amount_cents && html`<span class="soft">${fill(words.left, { amount: format.amount(left) })}</span>`}</td>
<td class="deed"><div class="acts">${fileOf(frame, 'credit_notes', note)}</div></td></tr>
`;
}

export function receiptTable(frame: Frame, receipts: readonly PortalReceipt[]): Html {
  const { words, documents } = frame.language;
  return html`<div class="card list"><table>
<thead><tr><th scope="col">${documents.titles.receipt}</th><th scope="col" class="text">${words.for}</th><th scope="col">${documents.amount}</th><th scope="col"><span class="hidden">${words.deeds}</span></th></tr></thead>
<tbody>${receipts.map(
    (
      receipt,
    ) => html`<tr><th scope="row">${receipt.number}<span class="soft">${frame.day(receipt.created_at)}</span></th>
<td class="text">${receipt.invoice_numbers.join(', ')}<span class="soft">${receipt.method && methodName(receipt.method, frame.language.words)}</span></td>
<td class="sum">${frame.formatOf(receipt.amount_currency).amount(receipt.amount_cents)}</td>
<td class="deed"><div class="acts">${fileOf(frame, 'payment_receipts', receipt)}</div></td></tr>
`,
  )}</tbody></table></div>`;
}
