import { type Cents, cents } from '../money/cents.ts';
import { type Moves, moveChecker } from '../state-machine.ts';

export const HOLD_STATUSES = ['open', 'settled', 'released', 'expired'] as const;
export type HoldStatus = (typeof HOLD_STATUSES)[number];

/** Rule: wallet-holds.md. */
export const HOLD_MOVES: Moves<HoldStatus> = {
  open: ['settled', 'released', 'expired'],
  settled: [],
  released: [],
  expired: [],
};

export const canHoldMove = moveChecker(HOLD_MOVES);

/**
 * What of a wallet can still be held: its ongoing balance, less what is held and what was settled with usage that the
 * ongoing balance does not contain yet. Negative when usage outran the holds.
 *
 * Rule: wallet-holds.md "available".
 */
export const availableCents = (ongoingCents: Cents, heldCents: Cents): Cents => cents(ongoingCents - heldCents);

/**
 * How much a hold takes, 0 when it is refused.
 *
 *   400 asked of 300 → 0, partly 300
 */
export function heldAmount(askedCents: Cents, available: Cents, { isPartial }: { isPartial: boolean }): Cents {
  if (available >= askedCents) return askedCents;
  return cents(isPartial ? Math.max(0, available) : 0);
}
