import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ownInputs, sharedInputs, wholeInputs } from '../../../src/engine/explain/shared-inputs.ts';

const window = { fee: { from: '2024-02-01T00:00:00Z', to: '2024-03-01T00:00:00Z' }, timezone: 'UTC' };
const calls = {
  fee_type: 'charge',
  window,
  price: { charge_model: 'standard', properties: { amount: '0.5' } },
  usage: { units: '4' },
};
const seats = {
  fee_type: 'charge',
  window,
  price: { charge_model: 'standard', properties: { amount: '2' } },
  usage: { units: '3' },
};

test('two charges keep their periods and their model once, and their prices and units each', () => {
  const shared = sharedInputs([calls, seats]);
  expect(shared).toEqual({ window, price: { charge_model: 'standard' } });
  expect(ownInputs(seats, shared)).toEqual({
    fee_type: 'charge',
    price: { properties: { amount: '2' } },
    usage: { units: '3' },
  });
  expect(wholeInputs(ownInputs(seats, shared), shared)).toEqual(seats);
});

test('a section that one of the fees does not have, or has empty, is not shared', () => {
  const subscription = { fee_type: 'subscription', window, price: { plan_amount_cents: 900 }, usage: null };
  expect(sharedInputs([calls, subscription])).toEqual({ window });
  expect(sharedInputs([calls, { ...seats, usage: {} }])).toEqual({ window, price: { charge_model: 'standard' } });
});

test('what a copied fee names stays its own, because statements look for it', () => {
  const copied = { ...calls, facts: { kind: 'copied', fee_id: 'f' } };
  const shared = sharedInputs([copied, copied]);
  expect(ownInputs(copied, shared)).toEqual({ fee_type: 'charge', facts: { kind: 'copied', fee_id: 'f' } });
});

test('inputs that are stored whole are read as they are', () => {
  expect(wholeInputs(calls, null)).toEqual(calls);
});

const names = fc.constantFrom('a', 'b', 'c', 'toString', 'constructor');
const values = fc.oneof(fc.constantFrom(null, true, 1, '1', 'x', [], {}), fc.jsonValue({ maxDepth: 2 }));
const section = fc.oneof(fc.dictionary(names, values), fc.constantFrom(null, {}, 'text', [1]));
const inputs = fc.record(
  {
    fee_type: fc.string(),
    window: section,
    price: section,
    metric: section,
    usage: section,
    before: section,
    tail: section,
    facts: section,
    commitment: section,
  },
  { requiredKeys: ['fee_type', 'tail'] },
);

test('every fee gets back exactly what it had, whatever it shares and with how many others', () => {
  fc.assert(
    fc.property(fc.array(inputs, { minLength: 1, maxLength: 5 }), (fees) => {
      const shared = JSON.parse(JSON.stringify(sharedInputs(fees)));
      for (const fee of fees) {
        const own = JSON.parse(JSON.stringify(ownInputs(fee, shared)));
        expect(wholeInputs(own, shared)).toEqual(JSON.parse(JSON.stringify(fee)));
      }
    }),
    { numRuns: 1_000 },
  );
});
