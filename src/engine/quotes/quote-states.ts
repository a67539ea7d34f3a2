import { type Moves, moveChecker } from '../state-machine.ts';

export const ORDER_TYPES = ['subscription_creation', 'subscription_amendment', 'one_off'] as const;
export type OrderType = (typeof ORDER_TYPES)[number];

export const QUOTE_VERSION_STATUSES = ['draft', 'approved', 'voided'] as const;
export type QuoteVersionStatus = (typeof QUOTE_VERSION_STATUSES)[number];

export const QUOTE_VERSION_VOID_REASONS = ['manual', 'superseded', 'cascade_of_expired', 'cascade_of_voided'] as const;
export type QuoteVersionVoidReason = (typeof QUOTE_VERSION_VOID_REASONS)[number];

/**
 * A draft is approved or voided; an approved version is only voided along with its order form.
 * Rule: quotes.md#lifecycle.
 */
export const QUOTE_VERSION_MOVES: Moves<QuoteVersionStatus> = {
  draft: ['approved', 'voided'],
  approved: ['voided'],
  voided: [],
};

export const canQuoteVersionMove = moveChecker(QUOTE_VERSION_MOVES);

/**
 * The state from which each reason may void a version; an approved version is voided only by cascade. Rule:
 * quotes.md#lifecycle.
 */
const VOIDED_FROM: Readonly<Record<QuoteVersionVoidReason, QuoteVersionStatus>> = {
  manual: 'draft',
  superseded: 'draft',
  cascade_of_expired: 'approved',
  cascade_of_voided: 'approved',
};

export const canVoidQuoteVersion = (from: QuoteVersionStatus, reason: QuoteVersionVoidReason): boolean =>
  canQuoteVersionMove(from, 'voided') && VOIDED_FROM[reason] === from;

export const ORDER_FORM_STATUSES = ['generated', 'signed', 'expired', 'voided'] as const;
export type OrderFormStatus = (typeof ORDER_FORM_STATUSES)[number];

/** Rule: quotes.md#lifecycle. */
export const ORDER_FORM_MOVES: Moves<OrderFormStatus> = {
  generated: ['signed', 'expired', 'voided'],
  signed: [],
  expired: [],
  voided: [],
};

export const canOrderFormMove = moveChecker(ORDER_FORM_MOVES);

export const ORDER_STATUSES = ['created', 'executed', 'failed'] as const;
export type OrderStatus = (typeof ORDER_STATUSES)[number];

/** A failed order may be tried again; an executed one is final. Rule: quotes.md#lifecycle. */
export const ORDER_MOVES: Moves<OrderStatus> = {
  created: ['executed', 'failed'],
  failed: ['executed'],
  executed: [],
};

export const canOrderMove = moveChecker(ORDER_MOVES);
