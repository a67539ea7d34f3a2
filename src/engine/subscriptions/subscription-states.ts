import { type Moves, moveChecker } from '../state-machine.ts';

export const SUBSCRIPTION_STATUSES = ['pending', 'incomplete', 'active', 'terminated', 'canceled'] as const;
export type SubscriptionStatus = (typeof SUBSCRIPTION_STATUSES)[number];

/** Rule: subscriptions.md#statuses. */
export const SUBSCRIPTION_MOVES: Moves<SubscriptionStatus> = {
  pending: ['incomplete', 'active', 'canceled'],
  incomplete: ['active', 'canceled'],
  active: ['terminated'],
  terminated: [],
  canceled: [],
};

export const canSubscriptionMove = moveChecker(SUBSCRIPTION_MOVES);
