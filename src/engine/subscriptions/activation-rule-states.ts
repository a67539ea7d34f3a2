import { type Moves, moveChecker } from '../state-machine.ts';

export const RULE_STATUSES = [
  'inactive',
  'pending',
  'satisfied',
  'declined',
  'failed',
  'expired',
  'not_applicable',
] as const;
export type RuleStatus = (typeof RULE_STATUSES)[number];

/** A rule is pending while its subscription is incomplete, and then ends once. Rule: activation-rules.md. */
export const RULE_MOVES: Moves<RuleStatus> = {
  inactive: ['pending', 'not_applicable'],
  pending: ['satisfied', 'failed', 'expired', 'declined'],
  satisfied: [],
  declined: [],
  failed: [],
  expired: [],
  not_applicable: [],
};

export const canRuleMove = moveChecker(RULE_MOVES);
