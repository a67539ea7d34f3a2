import { expect, test } from 'vitest';
import {
  availableCents,
  canHoldMove,
  HOLD_STATUSES,
  type HoldStatus,
  heldAmount,
} from '../../../src/engine/credits/wallet-hold.ts';
import { cents } from '../../../src/engine/money/cents.ts';

// wallet-holds.md.
test.each([
  // asked  available  partly   held
  [100, 100, false, 100],
  [100, 99, false, 0],
  [100, 99, true, 99],
  [100, 0, true, 0],
  [100, -50, true, 0],
  [100, 500, true, 100],
])('%s cents requested of %s, in part: %s, are decided as %s', (asked, available, isPartial, held) => {
  expect(heldAmount(cents(asked), cents(available), { isPartial })).toBe(held);
});

test.each([
  [1000, 400, 600],
  [850, 0, 850],
  [100, 300, -200],
])('a wallet of %s cents with %s held has %s left', (ongoing, held, available) => {
  expect(availableCents(cents(ongoing), cents(held))).toBe(available);
});

test('only an open hold changes its state, and may move to any other', () => {
  const moves = HOLD_STATUSES.flatMap((from) =>
    HOLD_STATUSES.filter((to) => canHoldMove(from, to)).map((to): [HoldStatus, HoldStatus] => [from, to]),
  );
  expect(moves).toEqual([
    ['open', 'settled'],
    ['open', 'released'],
    ['open', 'expired'],
  ]);
});
