import fc from 'fast-check';
import { expect, test } from 'vitest';
import { itemFor, ownPart } from '../../../src/engine/corrections/progressive-part.ts';
import { noteAmounts } from '../../../src/engine/credits/credit-note-amounts.ts';
import { cents } from '../../../src/engine/money/cents.ts';
import { decimal } from '../../../src/engine/money/decimal.ts';

// event-corrections.md#usage-billed-progressively.
test.each([
  // fee, progressively, creditable, own part
  [2400, 1200, 2400, 1200],
  [2400, 1200, 1700, 850],
  [2400, 0, 1700, 1700],
  [1200, 1200, 1200, 0],
  [300, 100, 100, 66],
])('of a fee of %i with %i billed before, %i give back %i', (amountCents, progressiveCents, creditable, own) => {
  expect(ownPart({ amountCents, progressiveCents }, creditable)).toBe(own);
});

test.each([
  [2400, 1200, 700, '1400'],
  [2400, 0, 700, '700'],
  [300, 100, 1, '1.5'],
])('of a fee of %i with %i billed before, %i are an item of %s', (amountCents, progressiveCents, wanted, item) => {
  expect(itemFor({ amountCents, progressiveCents }, wanted).toFixed()).toBe(item);
});

test('an item gives back what is requested to the cent and never more than the fee', () => {
  const amount = fc.integer({ min: 2, max: 10_000_000 });
  fc.assert(
    fc.property(amount, fc.nat(), fc.nat(), fc.nat(), (amountCents, before, left, asked) => {
      const fee = { amountCents, progressiveCents: before % amountCents };
      const creditable = left % (amountCents + 1);
      const own = ownPart(fee, creditable);
      const wanted = own === 0 ? 0 : (asked % own) + 1;
      const item = itemFor(fee, wanted);
      expect(item.lte(creditable)).toBe(true);
      const credited = {
        amountCents: cents(amountCents),
        preciseCouponsAmountCents: decimal(fee.progressiveCents),
        taxes: [],
      };
      const note = noteAmounts([{ fee: credited, preciseAmountCents: item }]);
      expect(note.subTotalExcludingTaxesAmountCents).toBe(wanted);
    }),
  );
});
