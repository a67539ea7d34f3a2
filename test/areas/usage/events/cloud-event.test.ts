import fc from 'fast-check';
import { LosslessNumber } from 'lossless-json';
import { describe, expect, test } from 'vitest';
import { cloudEvents, parseCloudEvent } from '../../../../src/areas/usage/events/cloud-event.ts';
import { type ParsedEvent, parseEvent } from '../../../../src/areas/usage/events/parse-event.ts';

const sent = (changes: object = {}) => ({
  specversion: '1.0',
  id: '7',
  source: '/gw',
  type: 'calls',
  subject: 'ada-1',
  ...changes,
});

function accepted(parsed: ParsedEvent) {
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors));
  const { id: _, ...event } = parsed.event;
  return event;
}

test('source /gw, id 7 and subject ada-1 are the event "/gw 7" of ada-1 (PB14)', () => {
  const event = sent({ time: '2026-03-09T23:59:59.999Z', data: { tokens: 10, model: 'alpha' } });
  expect(accepted(parseCloudEvent(event))).toEqual({
    transaction_id: '/gw 7',
    external_subscription_id: 'ada-1',
    code: 'calls',
    timestamp: '2026-03-09T23:59:59.999000Z',
    properties: '{"model":"alpha","tokens":10}',
    precise_total_amount_cents: null,
    digest: '4a104b0424e2af88d9fd1f533c92e062',
  });
});

test('extensions are properties with a prefix, as the text that a header would hold', () => {
  const event = sent({
    tenant: 'é',
    retries: 3,
    billed: true,
    gone: null,
    dataschema: 'https://e.org/s',
    data: { a: 1 },
  });
  expect(accepted(parseCloudEvent(event)).properties).toBe(
    '{"a":1,"ce_billed":"true","ce_retries":"3","ce_tenant":"é"}',
  );
});

test('a transaction id of more than 1 000 bytes is a digest of it', () => {
  const fitting = sent({ source: 's'.repeat(500), id: 'i'.repeat(499) });
  expect(accepted(parseCloudEvent(fitting)).transaction_id).toBe(`${'s'.repeat(500)} ${'i'.repeat(499)}`);
  const long = sent({ source: 's'.repeat(500), id: 'i'.repeat(500) });
  // echo -n of 500 s, a blank and 500 i, through sha256sum
  expect(accepted(parseCloudEvent(long)).transaction_id).toBe(
    'ce:f8935ff2f72ceaaa32b97c8458a5f8e815cef9af0603302fa9cbb2a70ab0c5d3',
  );
});

test.each([
  ['2026-03-10T00:00:00Z', '2026-03-10T00:00:00.000000Z'],
  ['2026-03-10t01:30:00.1234567891234+01:30', '2026-03-10T00:00:00.123456Z'],
  ['1969-12-31T23:59:59.9999999z', '1969-12-31T23:59:59.999999Z'],
  ['2024-02-29T12:00:00-00:00', '2024-02-29T12:00:00.000000Z'],
  ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000000Z'],
  ['2016-12-31T23:59:60Z', '2016-12-31T23:59:59.000000Z'],
  [null, null],
  [undefined, null],
])('time %s is the timestamp %s', (time, timestamp) => {
  expect(accepted(parseCloudEvent(sent({ time }))).timestamp).toBe(timestamp);
});

const MANDATORY = ['value_is_mandatory'];
const INVALID = ['value_is_invalid'];
const FORMAT = ['invalid_format'];
const UNSUPPORTED = ['unsupported_value'];
const TOO_LONG = ['value_is_too_long'];

describe('what is refused, by the attribute', () => {
  test.each<[object, object]>([
    [{ specversion: undefined }, { specversion: MANDATORY }],
    [{ specversion: '' }, { specversion: MANDATORY }],
    [{ specversion: '0.3' }, { specversion: UNSUPPORTED }],
    [{ specversion: 1 }, { specversion: UNSUPPORTED }],
    [{ id: undefined }, { id: MANDATORY }],
    [{ id: null }, { id: MANDATORY }],
    [{ id: ' ' }, { id: MANDATORY }],
    [{ id: 7 }, { id: INVALID }],
    [{ id: 'a\0' }, { id: FORMAT }],
    [{ source: undefined }, { source: MANDATORY }],
    [{ source: '' }, { source: MANDATORY }],
    [{ source: {} }, { source: INVALID }],
    [{ source: '/a b' }, { source: FORMAT }],
    [{ source: '\ud800' }, { source: FORMAT }],
    [{ type: undefined }, { type: MANDATORY }],
    [{ type: '\t' }, { type: MANDATORY }],
    [{ type: ['calls'] }, { type: INVALID }],
    [{ type: 'é'.repeat(501) }, { type: TOO_LONG }],
    [{ subject: 1 }, { subject: INVALID }],
    [{ subject: 's'.repeat(1001) }, { subject: TOO_LONG }],
    [{ subject: '\udc00' }, { subject: FORMAT }],
    [{ time: '2026-03-10T00:00:00' }, { time: FORMAT }],
    [{ time: '2026-03-10' }, { time: FORMAT }],
    [{ time: '2026-03-10 00:00:00Z' }, { time: FORMAT }],
    [{ time: '2026-02-29T00:00:00Z' }, { time: FORMAT }],
    [{ time: '2026-03-10T24:00:00Z' }, { time: FORMAT }],
    [{ time: '2026-03-10T00:00:00+99:00' }, { time: FORMAT }],
    [{ time: '2026-03-10T00:00:00Z[UTC]' }, { time: FORMAT }],
    [{ time: '0000-12-31T00:00:00Z' }, { time: FORMAT }],
    [{ time: '9999-12-31T23:59:59-01:00' }, { time: FORMAT }],
    [{ time: `2026-03-10T00:00:00.${'0'.repeat(100)}Z` }, { time: FORMAT }],
    [{ time: '' }, { time: FORMAT }],
    [{ time: 1893456000 }, { time: FORMAT }],
    [{ data: [1] }, { data: FORMAT }],
    [{ data: [] }, { data: FORMAT }],
    [{ data: 'x' }, { data: FORMAT }],
    [{ data: 0 }, { data: FORMAT }],
    [{ data: false }, { data: FORMAT }],
    [{ data: new LosslessNumber('1') }, { data: FORMAT }],
    [{ data: { a: 'x\0' } }, { data: FORMAT }],
    [{ data: Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [n, 1e-300])) }, { data: TOO_LONG }],
    [{ data_base64: 'e30=' }, { data_base64: UNSUPPORTED }],
    [{ data_base64: '', data: {} }, { data_base64: UNSUPPORTED }],
    [{ datacontenttype: 'text/xml' }, { datacontenttype: UNSUPPORTED }],
    [{ datacontenttype: 'application/jsonp' }, { datacontenttype: UNSUPPORTED }],
    [{ datacontenttype: 1 }, { datacontenttype: UNSUPPORTED }],
    [{ tenant: {} }, { tenant: INVALID }],
    [{ tenant: 1.5 }, { tenant: INVALID }],
    [{ tenant: new LosslessNumber('12345678901234567890') }, { tenant: INVALID }],
    [{ tenant: 'a\0' }, { tenant: FORMAT }],
    [{ tenant: 'a', data: { ce_tenant: 'a' } }, { tenant: ['value_already_exist'] }],
    [{ Tenant: 'a' }, { extensions: FORMAT }],
    [{ ['a'.repeat(101)]: 'a' }, { extensions: FORMAT }],
    [JSON.parse('{"__proto__":"a"}'), { extensions: FORMAT }],
    [Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`x${n}`, 'a'])), { extensions: TOO_LONG }],
  ])('case %#', (changes, errors) => {
    expect(parseCloudEvent({ ...sent(), ...changes })).toEqual({ ok: false, errors });
  });

  test('all errors are told together', () => {
    const errors = { specversion: MANDATORY, id: MANDATORY, source: MANDATORY, type: MANDATORY };
    for (const nothing of [{}, 7, null, 'x', [], undefined])
      expect(parseCloudEvent(nothing)).toEqual({ ok: false, errors });
    expect(parseCloudEvent(sent({ id: 1, time: 'x', data: 7, subject: {} }))).toEqual({
      ok: false,
      errors: { id: INVALID, time: FORMAT, data: FORMAT, subject: INVALID },
    });
  });
});

test.each(['application/json', 'application/vnd.x+json; charset=utf-8', 'text/json', 'APPLICATION/JSON'])(
  'data of the type %s is JSON',
  (datacontenttype) => {
    expect(parseCloudEvent(sent({ datacontenttype }))).toMatchObject({ ok: true });
  },
);

test('64 extensions are taken', () => {
  const many = Object.fromEntries(Array.from({ length: 64 }, (_, n) => [`x${n}`, 'a']));
  expect(Object.keys(JSON.parse(accepted(parseCloudEvent(sent(many))).properties))).toHaveLength(64);
});

test('a refused event is named by its source and id where it has them', () => {
  expect(cloudEvents.transactionId(sent({ type: '' }))).toBe('/gw 7');
  expect([cloudEvents.transactionId(sent({ id: 7 })), cloudEvents.transactionId(null)]).toEqual([null, null]);
});

test('a CloudEvent and its plain form are the same event, with one key and one digest', () => {
  const word = fc.stringMatching(/^[!-~é]{1,20}$/);
  const input = fc.record({
    source: word,
    id: fc.stringMatching(/^[!-~é][ -~é]{0,20}$/),
    type: word,
    subject: fc.option(word, { nil: undefined }),
    micros: fc.option(fc.integer({ min: -62_135_596_800_000_000 / 4, max: 4_000_000_000_000_000 }), { nil: undefined }),
    data: fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 8 }),
    extensions: fc.dictionary(fc.stringMatching(/^x[a-z0-9]{0,8}$/), fc.stringMatching(/^[ -~é]{0,20}$/), {
      maxKeys: 8,
    }),
  });
  fc.assert(
    fc.property(input, ({ source, id, type, subject, micros, data, extensions }) => {
      const whole = micros === undefined ? undefined : Math.floor(micros / 1e6);
      const rest = micros === undefined ? '' : String(micros - whole! * 1e6).padStart(6, '0');
      const time = whole === undefined ? undefined : `${new Date(whole * 1000).toISOString().slice(0, 19)}.${rest}Z`;
      const plain = {
        transaction_id: `${source} ${id}`,
        external_subscription_id: subject,
        code: type,
        timestamp: micros === undefined ? undefined : `${micros}e-6`,
        properties: {
          ...data,
          ...Object.fromEntries(Object.entries(extensions).map(([name, text]) => [`ce_${name}`, text])),
        },
      };
      const cloud = { specversion: '1.0', source, id, type, subject, time, data, ...extensions };
      expect(accepted(parseCloudEvent(cloud))).toEqual(accepted(parseEvent(plain)));
    }),
    { numRuns: 500 },
  );
});
