import { expect, test } from 'vitest';
import { canRuleMove, RULE_STATUSES } from '../../../src/engine/subscriptions/activation-rule-states.ts';
import { isUpgrade, yearlyAmount } from '../../../src/engine/subscriptions/comparison-amount.ts';
import { canSubscriptionMove, SUBSCRIPTION_STATUSES } from '../../../src/engine/subscriptions/subscription-states.ts';

const ALLOWED = [
  'pending → incomplete',
  'pending → active',
  'pending → canceled',
  'incomplete → active',
  'incomplete → canceled',
  'active → terminated',
];
const pairs = SUBSCRIPTION_STATUSES.flatMap((from) =>
  SUBSCRIPTION_STATUSES.map((to) => [ALLOWED.includes(`${from} → ${to}`) ? 'may' : 'must not', from, to] as const),
);

test.each(pairs)('a subscription %s move from %s to %s', (verdict, from, to) => {
  expect(canSubscriptionMove(from, to)).toBe(verdict === 'may');
});

const RULES_ALLOWED = [
  'inactive → pending',
  'inactive → not_applicable',
  'pending → satisfied',
  'pending → failed',
  'pending → expired',
  'pending → declined',
];

const rulePairs = RULE_STATUSES.flatMap((from) =>
  RULE_STATUSES.map((to) => [RULES_ALLOWED.includes(`${from} → ${to}`) ? 'may' : 'must not', from, to] as const),
);
test.each(rulePairs)('an activation rule %s move from %s to %s', (verdict, from, to) => {
  expect(canRuleMove(from, to)).toBe(verdict === 'may');
});

test.each([
  ['weekly', 52_000],
  ['monthly', 12_000],
  ['quarterly', 4_000],
  ['semiannual', 2_000],
  ['yearly', 1_000],
] as const)('1000 cents %s compare as %s a year', (interval, amount) => {
  expect(yearlyAmount({ interval, amount_cents: 1_000 })).toBe(amount);
});

test('a plan of equal yearly amount is an upgrade, a cheaper one is not (G53)', () => {
  const monthly = { interval: 'monthly', amount_cents: 1_000 } as const;
  expect(isUpgrade(monthly, { interval: 'yearly', amount_cents: 12_000 })).toBe(true);
  expect(isUpgrade(monthly, { interval: 'yearly', amount_cents: 11_999 })).toBe(false);
});
