import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CURRENCIES } from '../../../src/engine/money/currency.ts';
import { fromWire, stepCents, toWire } from '../../../src/engine/money/wire.ts';
import { ADYEN_WIRE } from '../../../src/platform/payments/adyen/wire.ts';
import { GOCARDLESS_WIRE } from '../../../src/platform/payments/gocardless/wire.ts';
import { wireOf } from '../../../src/platform/payments/providers.ts';
import { STRIPE_WIRE } from '../../../src/platform/payments/stripe/wire.ts';

// payments.md#amounts-on-the-wire; docs.stripe.com/currencies.
describe('an amount on the wire', () => {
  test.each([
    // currency  cents   wire    charged  rest
    ['USD', 14900, 14900, 14900, 0],
    ['JPY', 1001, 1001, 1001, 0],
    ['ISK', 500, 50000, 500, 0],
    ['UGX', 1001, 100100, 1001, 0],
    ['MGA', 50000, 500, 50000, 0],
    ['MGA', 1001, 10, 1000, 1],
    ['MGA', 99, 0, 0, 99],
    ['KWD', 5124, 5120, 5120, 4],
    ['BHD', 1001, 1000, 1000, 1],
    ['TND', 9, 0, 0, 9],
    ['HUF', 1001, 1001, 1001, 0],
    ['TWD', 1001, 1001, 1001, 0],
  ])(
    '%s %i is sent to Stripe as %i, which stands for %i and leaves %i',
    (currency, cents, wire, chargedCents, restCents) => {
      expect(toWire(STRIPE_WIRE, cents, currency)).toEqual({ wire, chargedCents, restCents });
      expect(fromWire(STRIPE_WIRE, wire, currency)).toBe(chargedCents);
    },
  );

  test.each(['CLF', 'IQD', 'IRR', 'LYD'])('%s is not accepted by Stripe', (currency) => {
    expect(toWire(STRIPE_WIRE, 100_000, currency)).toBeUndefined();
    expect(fromWire(STRIPE_WIRE, 100_000, currency)).toBeUndefined();
  });

  test.each([
    ['ISK', 50050],
    ['UGX', 99],
    ['KWD', 5124],
    ['USD', -1],
    ['USD', 1.5],
  ])('%s %f is not an amount that could have been sent to Stripe', (currency, wire) => {
    expect(fromWire(STRIPE_WIRE, wire, currency)).toBeUndefined();
  });

  test.each([
    ['USD', 1],
    ['ISK', 1],
    ['MGA', 100],
    ['KWD', 10],
    ['JPY', 1],
  ])('one step of %s at Stripe is %i smallest units', (currency, cents) => {
    expect(stepCents(STRIPE_WIRE, currency)).toBe(cents);
  });

  test.each([
    ['CLP', 1001, 100_100, 1001, 0],
    ['ISK', 1001, 100_100, 1001, 0],
    ['CVE', 1001, 10, 1000, 1],
    ['IDR', 150_050, 1500, 150_000, 50],
  ])(
    '%s %i is sent to Adyen as %i, which stands for %i and leaves %i (FI5)',
    (currency, cents, wire, chargedCents, restCents) => {
      expect(toWire(ADYEN_WIRE, cents, currency)).toEqual({ wire, chargedCents, restCents });
      expect(fromWire(ADYEN_WIRE, wire, currency)).toBe(chargedCents);
    },
  );

  test.each([
    ['UGX', 100_100, 1001],
    ['MGA', 10, 1000],
    ['ISK', 150, undefined],
  ])('%s %i that Stripe reports is %s of ours (FI6)', (currency, wire, cents) => {
    expect(fromWire(STRIPE_WIRE, wire, currency)).toBe(cents);
  });

  test.each([
    ['Stripe', STRIPE_WIRE],
    ['Adyen', ADYEN_WIRE],
    ['GoCardless', GOCARDLESS_WIRE],
  ])(
    'at %s both parts make up the amount, less than a step remains, and converting back gives the same',
    (_, table) => {
      fc.assert(
        fc.property(fc.constantFrom(...CURRENCIES), fc.integer({ min: 0, max: 2 ** 45 }), (currency, cents) => {
          const sent = toWire(table, cents, currency);
          if (!sent) return table[currency] === null;
          const { wire, chargedCents, restCents } = sent;
          expect(chargedCents + restCents).toBe(cents);
          expect(restCents).toBeGreaterThanOrEqual(0);
          expect(restCents).toBeLessThan(stepCents(table, currency));
          expect(wire % (table[currency]?.step ?? 1)).toBe(0);
          expect(fromWire(table, wire, currency)).toBe(chargedCents);
          expect(toWire(table, chargedCents, currency)).toEqual({ wire, chargedCents, restCents: 0 });
          return true;
        }),
      );
    },
  );

  test('the sandbox double accepts our amounts as they are', () => {
    expect(toWire(wireOf('sandbox'), 5124, 'KWD')).toEqual({ wire: 5124, chargedCents: 5124, restCents: 0 });
  });
});
