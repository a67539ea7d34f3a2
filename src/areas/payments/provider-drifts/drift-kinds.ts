import type { CustomerId, PaymentId } from '../../../platform/ids.ts';

/** What a person can do about a drift. */
export const ACTIONS = ['apply', 'refund', 'resolve'] as const;
export type Action = (typeof ACTIONS)[number];

interface DriftRule {
  severity: 'warning' | 'error';
  /** Which repairs it offers. Of an error nothing is booked before a person has looked. */
  actions: readonly Action[];
}

const REPAIRABLE: DriftRule = { severity: 'warning', actions: ['apply', 'resolve'] };
const FOR_A_PERSON: DriftRule = { severity: 'error', actions: ['resolve'] };

/** The kinds of difference between a provider's records and ours. Rule: provider-reconciliation.md#drifts. */
export const DRIFTS = {
  status_differs: REPAIRABLE,
  refund_status_differs: REPAIRABLE,
  dispute_missing_here: REPAIRABLE,
  payment_missing_here: REPAIRABLE,
  amount_differs: FOR_A_PERSON,
  currency_differs: FOR_A_PERSON,
  payment_missing_there: FOR_A_PERSON,
  refund_missing_here: REPAIRABLE,
  refund_missing_there: REPAIRABLE,
  double_payment: { severity: 'warning', actions: ['apply', 'refund', 'resolve'] },
  customer_missing_there: REPAIRABLE,
  method_missing_there: REPAIRABLE,
  mandate_inactive: REPAIRABLE,
  authorization_open: REPAIRABLE,
} as const satisfies Record<string, DriftRule>;

export type DriftKind = keyof typeof DRIFTS;
export const DRIFT_KINDS = Object.keys(DRIFTS) as [DriftKind, ...DriftKind[]];

/** The kinds that say that the money of a payment or refund differs. */
export const OF_MONEY: readonly DriftKind[] = ['amount_differs', 'currency_differs'];

export const ruleOf = (kind: DriftKind): DriftRule => DRIFTS[kind];

/** What one side holds of an object. */
export interface Figures {
  status?: string | null;
  amount_cents?: number | null;
  currency?: string;
  /** What else tells the object: ids, what it was made for. */
  [detail: string]: unknown;
}

/** A difference that was found. */
export interface FoundDrift {
  kind: DriftKind;
  objectId: string;
  ours: Figures | null;
  theirs: Figures | null;
  paymentId: PaymentId | null;
  customerId: CustomerId | null;
}
