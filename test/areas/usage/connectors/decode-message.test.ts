import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { DeadCode } from '../../../../src/areas/usage/connectors/dead-message.ts';
import { type DecodedEvent, decodeMessage } from '../../../../src/areas/usage/connectors/decode-message.ts';
import { cloudEvents } from '../../../../src/areas/usage/events/cloud-event.ts';
import type { IncomingEvent } from '../../../../src/areas/usage/events/incoming-event.ts';
import { readEvents } from '../../../../src/areas/usage/events/read-request.ts';
import type { OrganizationId } from '../../../../src/platform/ids.ts';
import { parseBody } from '../../../../src/platform/json/parse-body.ts';

const organizationId = '01990000-0000-7000-8000-000000000001' as OrganizationId;
const sourceTime = '2026-03-09T12:00:00.000000Z';
const LIMITS = { EVENTS_BATCH_MAX_LENGTH: 100, TOLERANT_BATCH_MAX_LENGTH: 1000 };

const decode = (value: string | Uint8Array, headers: Record<string, string> = {}) =>
  decodeMessage(Buffer.from(value as string), { organizationId, sourceTime, headers });

const one = (decoded: DecodedEvent[]): DecodedEvent => {
  expect(decoded).toHaveLength(1);
  return decoded[0]!;
};

function accepted(decoded: DecodedEvent): Omit<IncomingEvent, 'id' | 'source_time'> {
  if ('dead' in decoded) throw new Error(`${decoded.dead.code} ${decoded.dead.message}`);
  const { id: _, source_time, ...event } = decoded.event;
  expect(source_time).toBe(sourceTime);
  return event;
}

function dead(decoded: DecodedEvent): [DeadCode, string] {
  if ('event' in decoded) throw new Error('not dead');
  return [decoded.dead.code, decoded.dead.message];
}

/** The same event over HTTP. */
async function overHttp(body: string, isCloudEvent = false) {
  const value = parseBody(body, { keepLiterals: true });
  const sender = { organization_id: organizationId, sandbox: false, received_at: sourceTime } as never;
  const reader = isCloudEvent ? { reader: cloudEvents } : {};
  const { batch } = await readEvents('single', value, { limits: LIMITS, sender, ...reader });
  const { id: _, ...event } = batch.events[0]!;
  return event;
}

const fields = '"transaction_id":"t1","external_subscription_id":"s1","code":"calls"';
const bare = `{${fields},"timestamp":1773014400.5,"properties":{"n":1.10,"big":12345678901234567890.5}}`;
const event = {
  transaction_id: 't1',
  external_subscription_id: 's1',
  code: 'calls',
  timestamp: '2026-03-09T00:00:00.500000Z',
  properties: '{"big":12345678901234567890.5,"n":1.1}',
  precise_total_amount_cents: null,
};
const cloud = {
  specversion: '1.0',
  id: '7',
  source: '/gw',
  type: 'calls',
  subject: 's1',
  time: '2026-03-09T00:00:00.5Z',
  data: { n: 1 },
};
const { data, ...attributes } = cloud;
const asHeaders = Object.fromEntries(Object.entries(attributes).map(([name, value]) => [`ce_${name}`, value]));
const ofCloud = { ...event, transaction_id: '/gw 7', properties: '{"n":1}' };

describe('every envelope', () => {
  test.each<[string, string, Record<string, string>, object]>([
    ['bare', bare, {}, event],
    ['with a byte order mark', `\ufeff${bare}`, {}, event],
    ['with a type', bare, { 'content-type': 'application/json; charset=utf-8' }, event],
    ['under event', `{"event":${bare}}`, {}, event],
    ['under events', `{"events":[${bare}]}`, {}, event],
    ['its own organization', bare.replace('{', `{"organization_id":"${organizationId}",`), {}, event],
    ['its own organization in a header', bare, { 'svc-organization-id': organizationId }, event],
    ['a CloudEvent by its shape', JSON.stringify(cloud), {}, ofCloud],
    ['a CloudEvent by its type', JSON.stringify(cloud), { 'content-type': 'application/cloudevents+json' }, ofCloud],
    [
      'a batch of CloudEvents',
      JSON.stringify([cloud]),
      { 'content-type': 'application/cloudevents-batch+json' },
      ofCloud,
    ],
    ['a CloudEvent in headers', JSON.stringify(data), asHeaders, ofCloud],
    [
      'a CloudEvent in headers with a type',
      JSON.stringify(data),
      { ...asHeaders, 'content-type': 'application/json' },
      ofCloud,
    ],
  ])('%s is the event', (_, value, headers, expected) => {
    expect(accepted(one(decode(value, headers)))).toMatchObject(expected);
  });

  test('an envelope of 1 000 events gives each of them, bad ones alone', () => {
    const events = Array.from({ length: 1000 }, (_, n) =>
      n === 7 ? { code: 'calls' } : { transaction_id: `t${n}`, external_subscription_id: 's', code: 'calls' },
    );
    const decoded = decode(JSON.stringify({ events }));
    expect(decoded).toHaveLength(1000);
    expect(decoded.filter((each) => 'event' in each)).toHaveLength(999);
    const bad = decoded[7]!;
    expect(dead(bad)).toEqual([
      'value_is_mandatory',
      'transaction_id: value_is_mandatory; external_subscription_id: value_is_mandatory',
    ]);
    expect('dead' in bad && Buffer.from(bad.dead.payload).toString()).toBe('{"code":"calls"}');
  });
});

test.each([
  ['1773014400', '2026-03-09T00:00:00.000000Z'],
  ['1773014400.1234567', '2026-03-09T00:00:00.123456Z'],
  ['"1773014400.5"', '2026-03-09T00:00:00.500000Z'],
  ['"2026-03-09T00:00:00Z"', '2026-03-09T00:00:00.000000Z'],
  ['"2026-03-09T00:00:00.1234567+00:00"', '2026-03-09T00:00:00.123456Z'],
  ['"2026-03-09 01:30:00,5+0130"', '2026-03-09T00:00:00.500000Z'],
  ['"2026-03-08T19:00-05"', '2026-03-09T00:00:00.000000Z'],
  ['null', null],
])('the timestamp %s is %s', (sent, expected) => {
  expect(accepted(one(decode(`{${fields},"timestamp":${sent}}`))).timestamp).toBe(expected);
});

test('an event without timestamp happened when its message was written', () => {
  expect(one(decode(`{${fields}}`))).toMatchObject({ event: { timestamp: null, source_time: sourceTime } });
});

describe('every code', () => {
  test.each<[DeadCode, string, Record<string, string>, string | RegExp]>([
    ['invalid_json', '', {}, /JSON/],
    ['invalid_json', '{', {}, /JSON/],
    ['invalid_json', `${bare}${bare}`, {}, /JSON/],
    ['invalid_json', `{${fields},"properties":{"n":NaN}}`, {}, /JSON/],
    ['invalid_json', `{${fields},"properties":{"n":"\0"}}`, {}, /JSON/],
    ['invalid_json', `{"event":${'['.repeat(500)}${']'.repeat(500)}}`, {}, /64 levels/],
    ['invalid_json', '['.repeat(1024 * 1024), {}, /JSON/],
    ['invalid_json', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`, {}, /64 levels/],
    ['invalid_event', 'null', {}, 'a message is a JSON object'],
    ['invalid_event', '[]', {}, 'a message is a JSON object'],
    ['invalid_event', '7', {}, 'a message is a JSON object'],
    ['invalid_event', '"x"', {}, 'a message is a JSON object'],
    ['invalid_event', '{"events":[]}', {}, 'events: no_events'],
    ['invalid_event', '{"events":{}}', {}, 'events: no_events'],
    ['invalid_event', `{"events":[${'{},'.repeat(1000)}{}]}`, {}, 'events: too_many_events'],
    ['invalid_event', `{"events":[${'7,'.repeat(90_000)}7]}`, {}, 'events: too_many_events'],
    ['payload_too_large', `{"events":[${'{},'.repeat(100_000)}{}]}`, {}, /100 000 values/],
    ['invalid_event', `{${fields},"properties":{"a":"\\u0000"}}`, {}, 'properties: invalid_format'],
    ['invalid_event', `{${fields},"properties":{"a":"\\ud800"}}`, {}, 'properties: invalid_format'],
    ['invalid_event', `{${fields},"properties":{"a":1e400}}`, {}, 'properties.a: invalid_format'],
    ['invalid_event', `{${fields},"properties":[1]}`, {}, 'properties: value_is_invalid'],
    ['invalid_event', `{${fields},"precise_total_amount_cents":"x"}`, {}, /value_is_invalid/],
    ['invalid_event', `{${fields},"code":{}}`, {}, 'code: value_is_invalid'],
    ['invalid_event', JSON.stringify({ ...cloud, data_base64: 'AA==' }), {}, 'data_base64: unsupported_value'],
    ['value_is_mandatory', '{}', {}, /transaction_id: value_is_mandatory/],
    ['value_is_mandatory', '{"event":{}}', {}, /transaction_id: value_is_mandatory/],
    ['value_is_mandatory', `{${fields},"transaction_id":""}`, {}, 'transaction_id: value_is_mandatory'],
    [
      'value_is_mandatory',
      `{${fields},"external_subscription_id":" "}`,
      {},
      'external_subscription_id: value_is_mandatory',
    ],
    ['value_is_mandatory', `{${fields},"code":null,"timestamp":"x"}`, {}, /timestamp: invalid_format/],
    ['value_is_mandatory', JSON.stringify({ ...cloud, subject: undefined }), {}, 'subject: value_is_mandatory'],
    ['invalid_timestamp', `{${fields},"timestamp":""}`, {}, 'timestamp: invalid_format'],
    ['invalid_timestamp', `{${fields},"timestamp":true}`, {}, 'timestamp: invalid_format'],
    ['invalid_timestamp', `{${fields},"timestamp":{}}`, {}, 'timestamp: invalid_format'],
    ['invalid_timestamp', `{${fields},"timestamp":"yesterday"}`, {}, 'timestamp: invalid_format'],
    ['invalid_timestamp', `{${fields},"timestamp":"2026-03-09T00:00:00"}`, {}, 'timestamp: invalid_format'],
    ['invalid_timestamp', `{${fields},"timestamp":"2026-02-30T00:00:00Z"}`, {}, 'timestamp: invalid_format'],
    ['invalid_timestamp', `{${fields},"timestamp":"2026-03-09"}`, {}, 'timestamp: invalid_format'],
    ['invalid_timestamp', `{${fields},"timestamp":1e300}`, {}, 'timestamp: invalid_format'],
    ['invalid_timestamp', JSON.stringify({ ...cloud, time: 'x' }), {}, 'time: invalid_format'],
    ['organization_mismatch', `{${fields},"organization_id":"x"}`, {}, /connector/],
    ['organization_mismatch', `{${fields},"organization_id":7}`, {}, /connector/],
    ['organization_mismatch', `{"event":{${fields},"organization_id":"x"}}`, {}, /connector/],
    ['organization_mismatch', `{"organization_id":"x","events":[{${fields}}]}`, {}, /connector/],
    ['organization_mismatch', `{"events":[{${fields},"organization_id":"x"}]}`, {}, /connector/],
    ['organization_mismatch', bare, { 'svc-organization-id': 'x' }, /connector/],
    ['organization_mismatch', bare, { 'svc-organization-id': '' }, /connector/],
    ['payload_too_large', `{${fields},"properties":{"a":"${'x'.repeat(1024 * 1024)}"}}`, {}, /1048576 bytes/],
    ['payload_too_large', `{${fields},"properties":{"a":[${'1,'.repeat(150_000)}1]}}`, {}, /100 000 values/],
    ['unsupported_format', bare, { 'content-type': 'text/csv' }, 'content-type: unsupported_value'],
    ['unsupported_format', bare, { 'content-type': 'application/cloudevents+avro' }, 'content-type: unsupported_value'],
    ['unsupported_format', bare, { ...asHeaders, 'content-type': 'image/png' }, 'content-type: unsupported_value'],
  ])('%s for %.60j', (code, value, headers, message) => {
    const [is, says] = dead(one(decode(value, headers)));
    expect(is).toBe(code);
    expect(says).toMatch(message);
  });

  test('invalid_json for what is no UTF-8', () => {
    const broken = Buffer.concat([Buffer.from(bare.slice(0, -2)), Buffer.from([0xc3, 0x28]), Buffer.from('}}')]);
    expect(dead(one(decode(broken)))[0]).toBe('invalid_json');
    expect(dead(one(decode(gzipSync(bare))))[0]).toBe('invalid_json');
  });
});

test('a dead letter keeps the first 256 KiB of its message as they came', () => {
  const long = Buffer.alloc(2 * 1024 * 1024, 'x');
  expect(one(decode(long))).toMatchObject({ dead: { isCut: true, payload: long.subarray(0, 256 * 1024) } });
  const broken = Buffer.from([0xff, 0x00, 0x7b]);
  expect(one(decode(broken))).toMatchObject({ dead: { isCut: false, payload: broken } });
});

test('a dead letter of a list keeps all digits of its event', () => {
  const decoded = decode(`{"events":[{${fields}},{"code":"c","properties":{"n":12345678901234567890.123}}]}`);
  const { dead: letter } = decoded[1] as { dead: { payload: Uint8Array } };
  expect(Buffer.from(letter.payload).toString()).toBe('{"code":"c","properties":{"n":12345678901234567890.123}}');
});

test('data of a CloudEvent in headers may have a field called organization_id', () => {
  expect(accepted(one(decode('{"organization_id":"x"}', asHeaders))).properties).toBe('{"organization_id":"x"}');
});

const key = fc.string({ minLength: 1, maxLength: 20 }).filter((text) => text.trim() !== '');
const anyEvent = fc.record(
  {
    transaction_id: key,
    external_subscription_id: key,
    code: key,
    timestamp: fc.oneof(fc.integer({ min: 0, max: 4e9 }), fc.integer({ min: 0, max: 4e9 }).map(String)),
    properties: fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.double({ noNaN: true }), fc.boolean())),
    precise_total_amount_cents: fc.integer().map((n) => `${n}.25`),
  },
  { requiredKeys: ['transaction_id', 'external_subscription_id', 'code'] },
);

test('an event is the same in every envelope and over HTTP', async () => {
  await fc.assert(
    fc.asyncProperty(anyEvent, async (sent) => {
      const text = JSON.stringify(sent);
      const expected = await overHttp(`{"event":${text}}`);
      for (const value of [text, `{"event":${text}}`, `{"events":[${text}]}`])
        expect(accepted(one(decode(value)))).toEqual(expected);
    }),
  );
});

test('a CloudEvent is the same in every mode and over HTTP', async () => {
  const some = fc.record({
    id: key,
    source: fc.webUrl(),
    type: fc.stringMatching(/^[a-z]{1,9}$/),
    subject: fc.stringMatching(/^[a-z]{1,9}$/),
    data: anyEvent.map(({ properties }) => properties ?? {}),
  });
  await fc.assert(
    fc.asyncProperty(some, async ({ data: inner, ...rest }) => {
      const given = { specversion: '1.0', ...rest };
      const structured = JSON.stringify({ ...given, data: inner });
      const expected = await overHttp(structured, true);
      const headers = Object.fromEntries(Object.entries(given).map(([name, value]) => [`ce_${name}`, value]));
      expect(accepted(one(decode(structured)))).toEqual(expected);
      expect(accepted(one(decode(JSON.stringify(inner), headers)))).toEqual(expected);
    }),
  );
});

test('nothing that a producer may send throws or becomes a zero', () => {
  const hostile = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.json().map((text) => Buffer.from(text)),
    fc.anything().map((value) => Buffer.from(JSON.stringify({ event: value }) ?? '')),
  );
  fc.assert(
    fc.property(hostile, fc.dictionary(fc.string(), fc.string()), (bytes, headers) => {
      const decoded = decodeMessage(bytes, { organizationId, sourceTime, headers });
      expect(decoded.length).toBeGreaterThan(0);
    }),
  );
  const value = `{${fields},"precise_total_amount_cents":"1,5","properties":{"n":"twelve"}}`;
  expect(dead(one(decode(value)))[0]).toBe('invalid_event');
  expect(accepted(one(decode(`{${fields},"properties":{"n":"twelve"}}`))).properties).toBe('{"n":"twelve"}');
});

test('the type of a CloudEvent is the code that the settings of the organization give it', () => {
  const types = new Map([['calls', 'api_calls']]);
  const given = [
    [JSON.stringify(cloud), {}],
    [JSON.stringify(cloud.data), asHeaders],
    [JSON.stringify([cloud]), { 'content-type': 'application/cloudevents-batch+json' }],
  ] as const;
  for (const [value, headers] of given) {
    const decoded = one(decodeMessage(Buffer.from(value), { organizationId, sourceTime, headers, types }));
    expect(accepted(decoded).code).toBe('api_calls');
  }
  const plain = one(decodeMessage(Buffer.from(bare), { organizationId, sourceTime, types }));
  expect(accepted(plain).code).toBe('calls');
});

test('the id of an organization is the same in capitals', () => {
  const capitals = 'AB990000-0000-7000-8000-000000000001';
  const source = { organizationId: capitals.toLowerCase() as OrganizationId, sourceTime };
  const value = `{${fields},"organization_id":"${capitals}"}`;
  const headers = { 'svc-organization-id': capitals };
  expect(one(decodeMessage(Buffer.from(value), { ...source, headers }))).toHaveProperty('event');
});

test('an event of a list can be tried again alone, whatever its list was', () => {
  const list = JSON.stringify([cloud, { ...cloud, id: '8', subject: '' }]);
  const decoded = decode(list, { 'content-type': 'application/cloudevents-batch+json' });
  for (const { sent } of decoded) {
    const again = one(decode(sent.payload(), sent.headers()));
    expect('event' in again).toBe(sent === decoded[0]!.sent);
    if ('event' in again) expect(again.event.digest).toBe((decoded[0] as typeof again).event.digest);
  }
  expect(dead(one(decode(decoded[1]!.sent.payload(), decoded[1]!.sent.headers())))).toEqual(dead(decoded[1]!));
});

test('of the headers those are kept that decide how a message is read', () => {
  const { sent } = one(decode('no', { ...asHeaders, 'svc-organization-id': organizationId, 'x-trace': 'x' }));
  expect(sent.headers()).toEqual({ ...asHeaders, 'svc-organization-id': organizationId });
});
