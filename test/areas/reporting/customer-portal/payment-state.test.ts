import { expect, test } from 'vitest';
import { isToPay, paymentStateOf } from '../../../../src/areas/reporting/customer-portal/payment-state.ts';
import type { PortalInvoice } from '../../../../src/areas/reporting/customer-portal/queries.ts';

test.each([
  // status     total  due   overdue  →
  ['succeeded', 1000, 0, 'not overdue', 'paid'],
  ['succeeded', 0, 0, 'not overdue', 'paid'],
  ['pending', 1000, 0, 'not overdue', 'settled'],
  ['pending', 1000, 1000, 'not overdue', 'open'],
  ['pending', 1000, 400, 'not overdue', 'partlyPaid'],
  ['pending', 1000, 400, 'overdue', 'overdue'],
  ['failed', 1000, 1000, 'not overdue', 'failed'],
  ['failed', 1000, 1000, 'overdue', 'overdue'],
  ['failed', 1000, 0, 'not overdue', 'settled'],
] as const)(
  'an invoice with payment %s, of %i with %i due and %s, is shown as %s',
  (payment_status, total, due, term, state) => {
    const invoice = {
      payment_status,
      total_amount_cents: total,
      due_amount_cents: due,
      payment_overdue: term === 'overdue',
    };
    expect(paymentStateOf({ ...invoice, under_way: null } as PortalInvoice)).toBe(state);
    const underWay = paymentStateOf({ ...invoice, under_way: 'processing' } as PortalInvoice);
    expect(underWay).toBe(state === 'paid' || state === 'settled' ? state : 'underWay');
    // Until the customer has confirmed it, nothing is on its way.
    expect(paymentStateOf({ ...invoice, under_way: 'confirm' } as PortalInvoice)).toBe(state);
  },
);

test.each([
  // status      due  self-billed     under way      →
  ['pending', 1000, false, null, true],
  ['failed', 1000, false, null, true],
  ['pending', 400, false, 'confirm', true],
  ['pending', 1000, false, 'processing', false],
  ['pending', 0, false, null, false],
  ['succeeded', 0, false, null, false],
  ['succeeded', 1000, false, null, false],
  ['pending', 1000, true, null, false],
] as const)(
  'an invoice with payment %s, %i due, self-billed %s and a payment in state %s can be paid: %s',
  (payment_status, due_amount_cents, self_billed, under_way, expected) => {
    const invoice = { payment_status, due_amount_cents, self_billed, under_way } as PortalInvoice;
    expect(isToPay(invoice)).toBe(expected);
  },
);
