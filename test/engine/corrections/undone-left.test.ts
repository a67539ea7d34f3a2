import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Done, undoneLeft } from '../../../src/engine/corrections/undone-left.ts';

// event-corrections.md#what-is-left.
const left = (leftCents: number, eventId: string | null = 'event', lateId: string | null = null): Done => ({
  settledCents: 0,
  leftCents,
  eventId,
  lateId,
});
const settled = (settledCents: number): Done => ({ ...left(0), settledCents });

test.each<[string, Done[], number, number]>([
  ['nothing before it', [], -15, 0],
  ['a rise that was left', [left(10)], -15, -10],
  ['more than was left', [left(10)], -4, -4],
  ['a rise that was left, by another rise', [left(10)], 5, 0],
  ['a fall that was left', [left(-10)], 12, 10],
  ['a rise that was billed after one was left', [left(10), settled(10)], -10, 0],
  ['both of these', [left(10), settled(10)], -15, -5],
  ['a rise that was left after one was billed', [settled(10), left(10)], -15, -10],
  ['a rise that was left and undone in part', [left(10), left(-4)], -15, -6],
  ['a rise that was billed, given back and left', [settled(10), settled(-10), left(10)], -15, -10],
  ['one correction that left a part', [{ ...left(3), settledCents: 7 }], -5, -3],
  ['what two events left, in opposite ways', [left(-9, 'other'), left(5)], -9, -5],
  ['what late events left, of which one was amended', [left(10, null, 'late'), left(-4, 'a', 'late')], -15, -6],
  ['what late events left, where another was amended', [left(10, null, 'late'), left(-4, 'a')], -15, -10],
])('a difference undoes %s: %j, then %i → %i', (_name, history, delta, undone) => {
  expect(undoneLeft(history, delta)).toBe(undone);
});

test('a difference undoes no more than itself and than what is left, and never adds to that', () => {
  const cents = fc.integer({ min: -20, max: 20 });
  fc.assert(
    fc.property(
      fc.array(fc.record({ settledCents: cents, leftCents: cents }), { maxLength: 6 }),
      cents,
      (amounts, delta) => {
        const history = amounts.map((each) => ({ ...left(0), ...each }));
        const undone = undoneLeft(history, delta);
        expect(Math.abs(undone)).toBeLessThanOrEqual(Math.abs(delta));
        expect(undone * delta).toBeGreaterThanOrEqual(0);
        const stands = history.reduce((sum, each) => sum + each.leftCents, 0);
        if (undone !== 0) expect(Math.abs(stands + undone)).toBeLessThanOrEqual(Math.abs(stands) - Math.abs(undone));
      },
    ),
  );
});
