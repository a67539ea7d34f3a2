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
  // asked  how  available  held
  [100, 'in full', 100, 100],
  [100, 'in full', 99, 0],
  [100, 'in part', 99, 99],
  [100, 'in part', 0, 0],
  [100, 'in part', -50, 0],
  [100, 'in part', 500, 100],
])('of %s cents requested %s with %s available %s are held', (asked, how, available, held) => {
  expect(heldAmount(cents(asked), cents(available), { isPartial: how === 'in part' })).toBe(held);
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
