import { expect, test } from 'vitest';
import { paymentStateOf } from '../../../../src/areas/reporting/customer-portal/payment-state.ts';
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
    expect(paymentStateOf(invoice as PortalInvoice)).toBe(state);
  },
);
