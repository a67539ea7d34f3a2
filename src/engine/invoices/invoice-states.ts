import { type Moves, moveChecker } from '../state-machine.ts';

export const INVOICE_STATUSES = [
  'generating',
  'draft',
  'open',
  'pending',
  'failed',
  'finalized',
  'closed',
  'voided',
  'deleted',
] as const;
export type InvoiceStatus = (typeof INVOICE_STATUSES)[number];

/** Rule: invoices.md#statuses. */
export const INVOICE_MOVES: Moves<InvoiceStatus> = {
  generating: ['draft', 'finalized', 'closed', 'open', 'pending'],
  draft: ['finalized', 'closed', 'pending', 'deleted'],
  pending: ['finalized', 'closed', 'failed'],
  failed: ['pending', 'open'],
  open: ['finalized', 'closed'],
  finalized: ['voided'],
  closed: [],
  voided: [],
  deleted: [],
};

export const canInvoiceMove = moveChecker(INVOICE_MOVES);

/** Statuses that the API shows; an invoice of any other answers 404. Rule: invoices.md#statuses. */
export const VISIBLE_INVOICE_STATUSES = [
  'draft',
  'finalized',
  'voided',
  'failed',
  'pending',
] as const satisfies InvoiceStatus[];

export const PAYMENT_STATUSES = ['pending', 'succeeded', 'failed'] as const;
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];

/** State of taxes that an external engine computes; null without one. Rule: invoices.md#statuses. */
export type TaxStatus = 'pending' | 'succeeded' | 'failed';
