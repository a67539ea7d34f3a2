import { expect, test } from 'vitest';
import { csvInWire, fromWire, headerName, toWire } from '../../src/platform/wire-prefix.ts';

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

test('keys and the prefixed enumeration are translated at every depth in both directions', () => {
  expect(toWire(inside, 'lago')).toEqual(outside);
  expect(fromWire(outside, 'lago')).toEqual(inside);
});

test('translating the prefix keeps the order of keys', () => {
  expect(JSON.stringify(toWire(inside, 'lago'))).toBe(JSON.stringify(outside));
});

test('with the prefix svc the very same object is returned', () => {
  expect(toWire(inside, 'svc')).toBe(inside);
  expect(fromWire(inside, 'svc')).toBe(inside);
});

test.each(['properties', 'values', 'filters', 'grouped_by', 'metadata', 'entitlements'])(
  'names that customers chose are not translated: %s',
  (key) => {
    expect(fromWire({ lago_id: '1', [key]: { lago_region: 'x' } }, 'lago')).toEqual({
      svc_id: '1',
      [key]: { lago_region: 'x' },
    });
    expect(toWire({ [key]: { svc_region: 'x' } }, 'lago')).toEqual({ [key]: { svc_region: 'x' } });
  },
);

test('queries carry the prefix in names and modes, single or repeated', () => {
  const query = Object.assign(Object.create(null), { lago_id: 'a', execution_mode: ['execute_in_lago', 'order_only'] });
  expect(fromWire(query, 'lago')).toEqual({ svc_id: 'a', execution_mode: ['execute_in_svc', 'order_only'] });
});

test('numbers kept as literals and hostile keys pass unchanged', () => {
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
])('the header %s under the prefix %s is %s', (name, prefix, expected) => {
  expect(headerName(name, prefix)).toBe(expected);
});

test.each([
  ['svc_eu_reverse_charge', 'lago_eu_reverse_charge'],
  ['svc_eu_tax_exempt', 'lago_eu_tax_exempt'],
  ['svc_eu_fr_standard', 'lago_eu_fr_standard'],
  ['svc_eu_fr_exception_corsica', 'lago_eu_fr_exception_corsica'],
])('the generated code %s is %s outside, alone and in lists', (within, without) => {
  const fee = (code: string) => ({ tax_codes: [code], applied_taxes: [{ tax_code: code }], taxes: [{ code }] });
  expect(toWire(fee(within), 'lago')).toEqual(fee(without));
  expect(fromWire(fee(without), 'lago')).toEqual(fee(within));
  expect(csvInWire(`1,EUR,${within}\r\n2,EUR,\r\n`, 'lago')).toBe(`1,EUR,${without}\r\n2,EUR,\r\n`);
});

test.each(['svc_eu', 'svc_eu_vat', 'svc_own', 'my_svc_eu_tax_exempt', 'svc_eu_tax_exempt_2'])(
  'the code %s was chosen by a customer and stays',
  (code) => {
    expect(toWire({ code }, 'lago')).toEqual({ code });
  },
);

test('values that clients read as texts stay texts under another prefix, and objects stay objects', () => {
  const inside = {
    coupon: { percentage_rate: 12.5 },
    api_logs: [
      { request_body: '{"svc_id":"x"}', request_response: null },
      { request_body: '{"name":"[TRUNCATED]', request_response: '[1]' },
    ],
  };
  expect(toWire(inside, 'lago')).toEqual({
    coupon: { percentage_rate: '12.5' },
    api_logs: [
      { request_body: { svc_id: 'x' }, request_response: null },
      { request_body: { text: '{"name":"[TRUNCATED]' }, request_response: { text: '[1]' } },
    ],
  });
  expect(toWire({ coupon: { percentage_rate: null } }, 'lago')).toEqual({ coupon: { percentage_rate: null } });
  expect(toWire(inside, 'svc')).toBe(inside);
});
