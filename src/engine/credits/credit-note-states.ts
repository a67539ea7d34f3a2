import { type Moves, moveChecker } from '../state-machine.ts';

export const CREDIT_NOTE_REASONS = [
  'duplicated_charge',
  'product_unsatisfactory',
  'order_change',
  'order_cancellation',
  'fraudulent_charge',
  'other',
] as const;
export type CreditNoteReason = (typeof CREDIT_NOTE_REASONS)[number];

/** A draft note follows its draft invoice and becomes final with it. Rule: credit-note-amounts.md#automatic-notes. */
export type CreditNoteStatus = 'draft' | 'finalized' | 'deleted';

export const CREDIT_STATUSES = ['available', 'consumed', 'voided'] as const;
export type CreditStatus = (typeof CREDIT_STATUSES)[number];

/** Rule: credit-notes.md#states. */
export const CREDIT_MOVES: Moves<CreditStatus> = {
  available: ['consumed', 'voided'],
  consumed: ['available'],
  voided: [],
};

export const canCreditMove = moveChecker(CREDIT_MOVES);

/** State of the refund part; null without one. For a refund by hand any state may be set, also an earlier one. */
export const REFUND_STATUSES = ['pending', 'succeeded', 'failed'] as const;
export type RefundStatus = (typeof REFUND_STATUSES)[number];
