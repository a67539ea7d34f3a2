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
 * The amount of a wallet that can still be held: its ongoing balance less open holds and holds settled with usage that
 * the ongoing balance does not contain yet. Negative if usage exceeded the holds.
 *
 * Rule: wallet-holds.md "available".
 */
export const availableCents = (ongoingCents: Cents, heldCents: Cents): Cents => cents(ongoingCents - heldCents);

/**
 * The amount of a hold, 0 if it is refused.
 *
 *   400 asked of 300 → 0, partly 300
 */
export function heldAmount(askedCents: Cents, available: Cents, { isPartial }: { isPartial: boolean }): Cents {
  if (available >= askedCents) return askedCents;
  return cents(isPartial ? Math.max(0, available) : 0);
}
