import { expect, test } from 'vitest';
import { openShares, type Shares } from '../../../src/platform/queue/shares.ts';

const owner = (organizationId: string, customerKey?: string) => ({ organizationId, customerKey });

/** Lets an organization take slots, each for another customer, until it gets no more; how many it got. */
function fill(shares: Shares, organizationId: string): number {
  for (let taken = 0; ; taken += 1) {
    if (shares.enter(owner(organizationId, `${taken}`)).full !== undefined) return taken;
  }
}

test.each([
  // slots  held by the first, second, third organization that takes all it gets
  [1, 1, 0, 0],
  [2, 1, 1, 0],
  [4, 2, 1, 1],
  [10, 5, 3, 1],
  [50, 25, 13, 6],
])('of %i slots the first organization gets %i, the next one %i, the third %i', (slots, first, second, third) => {
  const shares = openShares(slots);
  expect([fill(shares, 'a'), fill(shares, 'b'), fill(shares, 'c')]).toEqual([first, second, third]);
});

test.each([
  // slots  held by the first five organizations that take all they get, a quarter at most
  [1, [1, 0, 0, 0, 0]],
  [16, [4, 4, 4, 2, 1]],
  [50, [12, 12, 12, 7, 4]],
])('when an organization may hold at most a quarter, of %i slots the organizations get %o', (slots, expected) => {
  const shares = openShares(slots, 0.25);
  expect(['a', 'b', 'c', 'd', 'e'].map((id) => fill(shares, id))).toEqual(expected);
});

test('free slots go to the organization that holds fewest', () => {
  const shares = openShares(10);
  fill(shares, 'a');
  fill(shares, 'b');
  shares.leave(owner('a', '0'));
  shares.leave(owner('a', '1'));
  expect(shares.room({ organizationId: 'a' })).toBe(1);
  expect(shares.room({ organizationId: 'c' })).toBe(2);
});

test('a customer has two jobs in flight while its organization goes on with others', () => {
  const shares = openShares(10);
  shares.enter(owner('a', 'ada'));
  shares.enter(owner('a', 'ada'));
  expect(shares.enter(owner('a', 'ada'))).toEqual({ full: { organizationId: 'a', customerKey: 'ada' } });
  expect(shares.enter(owner('a', 'bob'))).toEqual({ full: undefined });
  expect(shares.enter(owner('b', 'ada'))).toEqual({ full: undefined });
  shares.leave(owner('a', 'ada'));
  expect(shares.room({ organizationId: 'a', customerKey: 'ada' })).toBe(1);
  expect(shares.enter(owner('a', 'ada'))).toEqual({ full: undefined });
});

test('jobs without an organization may take all slots', () => {
  const shares = openShares(4);
  shares.enterUnowned();
  shares.enterUnowned();
  expect(fill(shares, 'a')).toBe(1);
  shares.leaveUnowned();
  shares.leaveUnowned();
  expect(fill(shares, 'b')).toBe(2);
});
