import { expect, test } from 'vitest';
import { canInvoiceMove, INVOICE_STATUSES } from '../../../src/engine/invoices/invoice-states.ts';

// Table of invoices.md#statuses.
const ALLOWED = [
  'generating → draft',
  'generating → finalized',
  'generating → closed',
  'generating → open',
  'generating → pending',
  'draft → finalized',
  'draft → closed',
  'draft → pending',
  'draft → deleted',
  'pending → finalized',
  'pending → closed',
  'pending → failed',
  'failed → pending',
  'failed → open',
  'open → finalized',
  'open → closed',
  'finalized → voided',
];
const pairs = INVOICE_STATUSES.flatMap((from) =>
  INVOICE_STATUSES.map((to) => [ALLOWED.includes(`${from} → ${to}`) ? 'may' : 'must not', from, to] as const),
);

test.each(pairs)('an invoice %s move from %s to %s', (verdict, from, to) => {
  expect(canInvoiceMove(from, to)).toBe(verdict === 'may');
});
