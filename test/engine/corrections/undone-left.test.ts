import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Done, undoneLeft } from '../../../src/engine/corrections/undone-left.ts';

// event-corrections.md#what-is-left.
const left = (leftCents: number): Done => ({ settledCents: 0, leftCents });
const settled = (settledCents: number): Done => ({ settledCents, leftCents: 0 });

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
  ['one correction that left a part', [{ settledCents: 7, leftCents: 3 }], -5, -3],
])('a difference undoes %s: %j, then %i → %i', (_name, history, delta, undone) => {
  expect(undoneLeft(history, delta)).toBe(undone);
});

test('a difference undoes no more than itself and than what is left, and never adds to that', () => {
  const cents = fc.integer({ min: -20, max: 20 });
  fc.assert(
    fc.property(
      fc.array(fc.record({ settledCents: cents, leftCents: cents }), { maxLength: 6 }),
      cents,
      (history, delta) => {
        const undone = undoneLeft(history, delta);
        expect(Math.abs(undone)).toBeLessThanOrEqual(Math.abs(delta));
        expect(undone * delta).toBeGreaterThanOrEqual(0);
        const stands = history.reduce((sum, each) => sum + each.leftCents, 0);
        if (undone !== 0) expect(Math.abs(stands + undone)).toBeLessThanOrEqual(Math.abs(stands) - Math.abs(undone));
      },
    ),
  );
});
