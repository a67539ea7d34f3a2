import type { Cents } from '../money/cents.ts';
import { type Decimal, max, min, ZERO } from '../money/decimal.ts';
import { type CreditRate, creditsOfMoney } from './wallet-money.ts';

/** Facts that decide how many credits a rule adds. */
export interface TopUpRule {
  trigger: 'interval' | 'threshold';
  method: 'fixed' | 'target';
  thresholdCredits: Decimal;
  paidCredits: Decimal;
  grantedCredits: Decimal;
  targetOngoingBalance: Decimal | null;
  grantsTargetTopUp: boolean;
  ignoresLimits: boolean;
}

export interface TopUpState extends CreditRate {
  /** Ongoing balance in credits; may be negative. */
  ongoingCredits: Decimal;
  /** Pending credits: ordered and not paid yet. */
  pendingCredits: Decimal;
  minAmountCents: Cents | null;
  maxAmountCents: Cents | null;
}

export interface TopUp {
  paidCredits: Decimal;
  grantedCredits: Decimal;
}

/** Whether a threshold rule acts: the wallet is at or below it, pending credits included. */
export const isBelowThreshold = (rule: TopUpRule, { ongoingCredits, pendingCredits }: TopUpState): boolean =>
  rule.trigger === 'threshold' && ongoingCredits.plus(pendingCredits).lte(rule.thresholdCredits);

/**
 * Credits that a rule adds now.
 *
 *   threshold 10, paid 50, ongoing −429.8 → 450;  target 10, ongoing 4, minimum 5000 cents at 1 → 50
 *
 * Rule: top-ups.md#recurring-rules "amount".
 */
export function topUpOf(rule: TopUpRule, state: TopUpState): TopUp {
  if (rule.method === 'target') return toTarget(rule, state);
  if (rule.trigger === 'interval') return { paidCredits: rule.paidCredits, grantedCredits: rule.grantedCredits };
  return { paidCredits: aboveThreshold(rule, state), grantedCredits: rule.grantedCredits };
}

function toTarget({ targetOngoingBalance, grantsTargetTopUp, ignoresLimits }: TopUpRule, state: TopUpState): TopUp {
  const gap = (targetOngoingBalance ?? ZERO).minus(state.ongoingCredits);
  if (gap.lte(0)) return { paidCredits: ZERO, grantedCredits: ZERO };
  if (grantsTargetTopUp) return { paidCredits: ZERO, grantedCredits: gap };
  const least =
    ignoresLimits || state.minAmountCents === null ? ZERO : creditsOfMoney(state.minAmountCents, state).credits;
  return { paidCredits: max(gap, least), grantedCredits: ZERO };
}

/** The multiple of the rule's purchase that lifts the wallet above its threshold, limited by the wallet. */
function aboveThreshold(rule: TopUpRule, state: TopUpState): Decimal {
  const { paidCredits: paid, grantedCredits: granted, thresholdCredits: threshold } = rule;
  const gap = threshold.minus(state.ongoingCredits).minus(granted).minus(state.pendingCredits);
  if (paid.isZero() || gap.lt(paid)) return paid;
  const enough = paid.times(gap.div(paid).floor().plus(1));
  if (rule.ignoresLimits || state.maxAmountCents === null) return enough;
  return min(enough, creditsOfMoney(state.maxAmountCents, state).credits);
}
