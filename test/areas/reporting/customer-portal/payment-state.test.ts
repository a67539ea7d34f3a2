import { expect, test } from 'vitest';
import { paymentStateOf } from '../../../../src/areas/reporting/customer-portal/payment-state.ts';
import type { PortalInvoice } from '../../../../src/areas/reporting/customer-portal/queries.ts';

test.each([
  // status     total  due   overdue  →
  ['succeeded', 1000, 0, false, 'paid'],
  ['succeeded', 0, 0, false, 'paid'],
  ['pending', 1000, 0, false, 'settled'],
  ['pending', 1000, 1000, false, 'open'],
  ['pending', 1000, 400, false, 'partlyPaid'],
  ['pending', 1000, 400, true, 'overdue'],
  ['failed', 1000, 1000, false, 'failed'],
  ['failed', 1000, 1000, true, 'overdue'],
  ['failed', 1000, 0, false, 'settled'],
] as const)(
  'payment %s of %i with %i due (overdue: %s) is shown as %s',
  (payment_status, total, due, isOverdue, state) => {
    const invoice = { payment_status, total_amount_cents: total, due_amount_cents: due, payment_overdue: isOverdue };
    expect(paymentStateOf(invoice as PortalInvoice)).toBe(state);
  },
);
