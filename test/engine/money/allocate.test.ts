import fc from 'fast-check';
import { expect, test } from 'vitest';
import { allocate } from '../../../src/engine/money/allocate.ts';
import { cents } from '../../../src/engine/money/cents.ts';
import { decimal } from '../../../src/engine/money/decimal.ts';

test.each([
  [100, [1, 1, 1], [34, 33, 33]],
  [-100, [1, 1, 1], [-34, -33, -33]],
  [2400, [10000, 2000], [2000, 400]],
  [5, [0, 0], [3, 2]],
  [7, [0, 3], [0, 7]],
  [0, [], []],
])('%s over the weights %s is split into %s', (total, weights, parts) => {
  expect(allocate(cents(total), weights)).toEqual(parts);
});

test('the parts always sum to the total, each less than a cent away from its share', () => {
  const weight = fc.oneof(
    fc.nat(1_000_000),
    fc.nat(1_000_000).map((n) => decimal(n).div(1_000)),
  );
  fc.assert(
    fc.property(fc.maxSafeInteger(), fc.array(weight, { minLength: 1, maxLength: 20 }), (total, weights) => {
      const parts = allocate(cents(total), weights);
      const sum = parts.reduce((whole, part) => whole + BigInt(part), 0n);
      expect(sum).toBe(BigInt(total));

      const whole = weights.reduce((a, b) => decimal(a).plus(b), decimal(0));
      if (decimal(whole).isZero()) return;
      for (const [index, part] of parts.entries()) {
        const share = decimal(total).times(weights[index]!).div(whole);
        expect(share.minus(part).abs().lt(1)).toBe(true);
      }
    }),
    { numRuns: 200 },
  );
});

test('negative weights and a split without weights are defects', () => {
  expect(() => allocate(cents(1), [-1])).toThrow('not negative');
  expect(() => allocate(cents(1), [])).toThrow('at least one part');
});
