import { Temporal } from 'temporal-polyfill';
import type { Received } from '../../../platform/payments/port.ts';
import type { PaymentState, RefundState } from '../../../platform/payments/words.ts';
import type { DriftKind } from '../provider-drifts/drift-kinds.ts';

/** How long an event may be under way before what it would say counts as lost. */
const EVENT_LATE_AFTER_HOURS = 1;

/**
 * What a comparison says.
 *
 * equal  both sides say the same
 * later  one side has just changed, and its event is under way: nothing is said yet
 */
export type Verdict = 'equal' | 'later' | { kind: DriftKind; repairsItself?: true };

/** A payment as we hold it. */
export interface OurPayment {
  payment_status: 'pending' | 'processing' | 'succeeded' | 'failed';
  amount_cents: number;
  amount_currency: string;
  /** What of it settled invoices. */
  applied_cents: number;
  /** Whether another payment of the same payable has succeeded and settled something. */
  is_second: boolean;
  reversed_at: Temporal.Instant | null;
  cancel_owed_at: Temporal.Instant | null;
  updated_at: Temporal.Instant;
}

/** The same payment as its provider holds it; its word is translated already. */
export interface TheirPayment {
  state: PaymentState;
  currency?: string;
  /** Null: it cannot have been asked for by us. Undefined: the provider does not say. */
  amountCents?: number | null;
  received?: Received | undefined;
}

/**
 * Compares a payment. Money is compared before states: a payment of another amount settles nothing, whatever its state.
 *
 *   ours processing since two hours, theirs succeeded → status_differs, which repairs itself
 *   ours 1200, theirs 1199                            → amount_differs
 *
 * Rule: provider-reconciliation.md#drifts.
 */
export function judgePayment(ours: OurPayment, theirs: TheirPayment, now: Temporal.Instant): Verdict {
  const currencies = [theirs.currency, theirs.received?.currency].filter((each) => each !== undefined);
  if (currencies.some((each) => each !== ours.amount_currency)) return { kind: 'currency_differs' };
  const amounts = [theirs.amountCents, theirs.received?.amountCents].filter((each) => each !== undefined);
  if (amounts.some((each) => each !== ours.amount_cents)) return { kind: 'amount_differs' };
  return judgeState(ours, theirs.state, now);
}

function judgeState(ours: OurPayment, there: PaymentState, now: Temporal.Instant): Verdict {
  const here = ours.payment_status;
  if (here === 'succeeded' && there === 'succeeded')
    return ours.applied_cents === 0 && ours.is_second ? { kind: 'double_payment' } : 'equal';
  if (here === there || (here === 'pending' && there === 'processing')) return 'equal';
  const isFinalHere = here === 'succeeded' || here === 'failed';
  // Money that the bank took back stays taken back: a word that was said before does not bring it again.
  if (here === 'failed' && ours.reversed_at !== null) return 'equal';
  // It was given up, and its end there is on its way.
  if (here === 'failed' && there === 'processing' && ours.cancel_owed_at !== null) return 'equal';
  if (isRecent(ours.updated_at, now)) return 'later';
  return { kind: 'status_differs', ...(isFinalHere || there === 'processing' ? {} : { repairsItself: true }) };
}

/** A refund as we hold it. */
export interface OurRefund {
  refund_status: 'pending' | 'succeeded' | 'failed' | null;
  refund_amount_cents: number;
  currency: string;
  updated_at: Temporal.Instant;
}

export interface TheirRefund {
  state: RefundState;
  currency?: string;
  amountCents?: number | null;
}

/** Compares a refund that both know. Rule: provider-reconciliation.md#drifts. */
export function judgeRefund(ours: OurRefund, theirs: TheirRefund, now: Temporal.Instant): Verdict {
  if (theirs.currency !== undefined && theirs.currency !== ours.currency) return { kind: 'currency_differs' };
  if (theirs.amountCents !== undefined && theirs.amountCents !== ours.refund_amount_cents)
    return { kind: 'amount_differs' };
  if (ours.refund_status === theirs.state) return 'equal';
  // Money that came back after it was paid out is told by an event only; the word stays.
  if (theirs.state === 'pending') return 'equal';
  return isRecent(ours.updated_at, now) ? 'later' : { kind: 'refund_status_differs' };
}

/** Whether something is so new that its event may be on its way. */
export const isRecent = (at: Temporal.Instant, now: Temporal.Instant): boolean =>
  Temporal.Instant.compare(at, now.subtract({ hours: EVENT_LATE_AFTER_HOURS })) > 0;
