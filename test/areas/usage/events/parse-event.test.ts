import { LosslessNumber } from 'lossless-json';
import { describe, expect, test } from 'vitest';
import { parseEvent } from '../../../../src/areas/usage/events/parse-event.ts';
import { canonicalText, parseProperties } from '../../../../src/areas/usage/events/property-json.ts';

const sent = (changes: object = {}) => ({ transaction_id: 't', external_subscription_id: 's', code: 'c', ...changes });

function accepted(changes: object = {}) {
  const parsed = parseEvent(sent(changes));
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors));
  return parsed.event;
}

describe('required fields of an event', () => {
  test.each<[object, object]>([
    [
      { transaction_id: undefined, code: ' ' },
      { transaction_id: ['value_is_mandatory'], code: ['value_is_mandatory'] },
    ],
    [{ transaction_id: '' }, { transaction_id: ['value_is_mandatory'] }],
    [{ code: {} }, { code: ['value_is_invalid'] }],
    [{ timestamp: '2024-01-01T00:00:00Z' }, { timestamp: ['invalid_format'] }],
    [{ timestamp: true }, { timestamp: ['invalid_format'] }],
    [{ timestamp: {} }, { timestamp: ['invalid_format'] }],
    [{ timestamp: '' }, { timestamp: ['invalid_format'] }],
    [{ precise_total_amount_cents: 'abc' }, { precise_total_amount_cents: ['value_is_invalid'] }],
    [{ precise_total_amount_cents: '' }, { precise_total_amount_cents: ['value_is_invalid'] }],
    [{ precise_total_amount_cents: '1e30' }, { precise_total_amount_cents: ['value_is_out_of_range'] }],
    [{ precise_total_amount_cents: Number.POSITIVE_INFINITY }, { precise_total_amount_cents: ['invalid_format'] }],
    [{ transaction_id: 'é'.repeat(501) }, { transaction_id: ['value_is_too_long'] }],
    [{ external_subscription_id: 'x'.repeat(1001) }, { external_subscription_id: ['value_is_too_long'] }],
    [{ transaction_id: 'a\0' }, { transaction_id: ['invalid_format'] }],
    [{ code: '\ud800' }, { code: ['invalid_format'] }],
    [{ properties: [1] }, { properties: ['value_is_invalid'] }],
    [{ properties: 'x' }, { properties: ['value_is_invalid'] }],
    [{ properties: '' }, { properties: ['value_is_invalid'] }],
    [{ properties: 0 }, { properties: ['value_is_invalid'] }],
    [{ properties: false }, { properties: ['value_is_invalid'] }],
    [{ properties: new LosslessNumber('1') }, { properties: ['value_is_invalid'] }],
    [{ properties: { a: { b: 'x\0' } } }, { properties: ['invalid_format'] }],
    [{ properties: { 'k\udfff': 1 } }, { properties: ['invalid_format'] }],
    [{ properties: { a: Number.POSITIVE_INFINITY } }, { properties: ['invalid_format'] }],
    [{ properties: { a: new LosslessNumber('1e400') } }, { properties: ['invalid_format'] }],
    [{ properties: JSON.parse('{"a":'.repeat(300) + '1' + '}'.repeat(300)) }, { properties: ['invalid_format'] }],
  ])('an event with %j is refused with %j', (changes, errors) => {
    expect(parseEvent(sent(changes))).toEqual({ ok: false, errors });
  });

  test.each<[object, object]>([
    [{}, { timestamp: null, properties: '{}', precise_total_amount_cents: null, external_subscription_id: 's' }],
    [{ transaction_id: 'é'.repeat(500) }, {}],
    [{ transaction_id: 12 }, { transaction_id: '12' }],
    [{ external_subscription_id: undefined }, { external_subscription_id: '' }],
    [{ external_subscription_id: null }, { external_subscription_id: '' }],
    [{ external_subscription_id: '  ' }, { external_subscription_id: '  ' }],
    [{ timestamp: null }, { timestamp: null }],
    [{ timestamp: 1651240791.123 }, { timestamp: '2022-04-29T13:59:51.123000Z' }],
    [{ timestamp: new LosslessNumber('1651240791.123456') }, { timestamp: '2022-04-29T13:59:51.123456Z' }],
    [{ properties: null }, { properties: '{}' }],
    [{ properties: [] }, { properties: '{}' }],
    [{ properties: { b: 1.1, a: [null, true] } }, { properties: '{"a":[null,true],"b":1.1}' }],
    [{ precise_total_amount_cents: 12.5 }, { precise_total_amount_cents: '12.5' }],
    [{ precise_total_amount_cents: '0.1234567890123456' }, { precise_total_amount_cents: '0.123456789012346' }],
  ])('an event with %j is accepted as %j', (changes, event) => {
    expect(accepted(changes)).toMatchObject(event);
  });
});

describe('digests of events', () => {
  const digest = (changes: object) => accepted(changes).digest;

  test.each<[object, object]>([
    [{ properties: { a: 1, b: 2 } }, { properties: { b: 2, a: 1 } }],
    [{ properties: { a: 1.1 } }, { properties: { a: new LosslessNumber('1.10000000000000000000') } }],
    [{ properties: {} }, { properties: null }],
    [{ timestamp: 1 }, { timestamp: 2 }],
    [{}, { precise_total_amount_cents: null }],
  ])('events with %j and %j have the same digest', (one, other) => {
    expect(digest(one)).toBe(digest(other));
  });

  test.each<[object, object]>([
    [{ properties: { a: 1 } }, { properties: { a: '1' } }],
    [{ properties: { a: null } }, { properties: {} }],
    [{ code: 'x' }, { code: 'y' }],
    [{ precise_total_amount_cents: 1 }, { precise_total_amount_cents: '1' }],
    [
      { properties: { a: new LosslessNumber('12345678901234567890') } },
      { properties: { a: new LosslessNumber('12345678901234567891') } },
    ],
  ])('events with %j and %j have different digests', (one, other) => {
    expect(digest(one)).not.toBe(digest(other));
  });

  test('the digest of an event has 16 bytes', () => {
    expect(digest({})).toMatch(/^[0-9a-f]{32}$/);
  });
});

describe('canonical properties', () => {
  test.each<[unknown, string]>([
    [{ b: 11e-1, a: 'x' }, '{"a":"x","b":1.1}'],
    [1e21, '1000000000000000000000'],
    [1e-7, '0.0000001'],
    [-0, '0'],
    ['"\\\n\u007fé', '"\\"\\\\\\n\u007fé"'],
    [new LosslessNumber('-1234567890123456789.50'), '-1234567890123456789.5'],
    [{ isLosslessNumber: true, value: 'x' }, '{"isLosslessNumber":true,"value":"x"}'],
    [JSON.parse('{"__proto__":1}'), '{"__proto__":1}'],
  ])('the canonical form of properties %j is %s', (value, text) => {
    expect(canonicalText(value)).toBe(text);
  });

  test('long numbers keep their digits when properties are read again', () => {
    const text = '{"a":12345678901234567890.5,"b":"12345678901234567890","c":[0.12345678901234567]}';
    expect(canonicalText(parseProperties(text))).toBe(text);
  });
});
