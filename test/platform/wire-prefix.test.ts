import { expect, test } from 'vitest';
import { fromWire, headerName, toWire } from '../../src/platform/wire-prefix.ts';

const inside = {
  svc_id: '1',
  external_id: 'svc_x',
  invoices: [{ svc_id: '2', fees: [{ svc_charge_id: null, item: { svc_item_id: '3' } }], metadata: [{ svc_id: '4' }] }],
  order: { execution_mode: 'execute_in_svc' },
};
const outside = {
  lago_id: '1',
  external_id: 'svc_x',
  invoices: [
    { lago_id: '2', fees: [{ lago_charge_id: null, item: { lago_item_id: '3' } }], metadata: [{ lago_id: '4' }] },
  ],
  order: { execution_mode: 'execute_in_lago' },
};

test('keys and the prefixed enumeration are translated at every depth, in both directions', () => {
  expect(toWire(inside, 'lago')).toEqual(outside);
  expect(fromWire(outside, 'lago')).toEqual(inside);
});

test('the order of keys stays', () => {
  expect(JSON.stringify(toWire(inside, 'lago'))).toBe(JSON.stringify(outside));
});

test('with the prefix svc the very same object comes back', () => {
  expect(toWire(inside, 'svc')).toBe(inside);
  expect(fromWire(inside, 'svc')).toBe(inside);
});

test.each(['properties', 'values', 'filters', 'grouped_by', 'metadata', 'entitlements'])(
  'names that customers chose are left alone: %s',
  (key) => {
    expect(fromWire({ lago_id: '1', [key]: { lago_region: 'x' } }, 'lago')).toEqual({
      svc_id: '1',
      [key]: { lago_region: 'x' },
    });
    expect(toWire({ [key]: { svc_region: 'x' } }, 'lago')).toEqual({ [key]: { svc_region: 'x' } });
  },
);

test('queries carry the prefix in names and modes, one or several', () => {
  const query = Object.assign(Object.create(null), { lago_id: 'a', execution_mode: ['execute_in_lago', 'order_only'] });
  expect(fromWire(query, 'lago')).toEqual({ svc_id: 'a', execution_mode: ['execute_in_svc', 'order_only'] });
});

test('numbers kept as literals pass untouched, and so do hostile keys', () => {
  class Literal {
    readonly svc_value = '1.10';
  }
  const literal = new Literal();
  expect((toWire({ amount: literal }, 'lago') as { amount: Literal }).amount).toBe(literal);
  const hostile = fromWire(JSON.parse('{"__proto__":{"lago_id":1}}'), 'lago');
  expect(JSON.stringify(hostile)).toBe('{"__proto__":{"svc_id":1}}');
});

test.each([
  ['X-Svc-Signature', 'svc', 'X-Svc-Signature'],
  ['X-Svc-Signature', 'lago', 'X-Lago-Signature'],
  ['X-Svc-Unique-Key', 'lago', 'X-Lago-Unique-Key'],
  ['X-Svc-Replayed', 'lago', 'X-Lago-Replayed'],
  ['Retry-After', 'lago', 'Retry-After'],
])('header %s under the prefix %s is %s', (name, prefix, expected) => {
  expect(headerName(name, prefix)).toBe(expected);
});
