import { describe, expect, test } from 'vitest';
import { parseEvent } from '../../../../src/areas/usage/events/parse-event.ts';
import { canonicalText, TooLong } from '../../../../src/areas/usage/events/property-json.ts';
import { readEvents } from '../../../../src/areas/usage/events/read-request.ts';
import { canonicalJson } from '../../../../src/platform/canonical-json.ts';
import { Refusal } from '../../../../src/platform/refusal.ts';
import { Turns } from '../../../../src/platform/turns/turns.ts';

// A number with an exponent is short as it is sent and long as it is stored: 8.6 KB of gzip once became 27.8 MB.
const properties = (count: number, value: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, value]));
const event = (changes: object) => ({ transaction_id: 't', external_subscription_id: 's', code: 'c', ...changes });

const LIMITS = { EVENTS_BATCH_MAX_LENGTH: 100, TOLERANT_BATCH_MAX_LENGTH: 1000 };
const SENDER = {
  organization_id: 'o',
  sandbox: false,
  received_at: '2026-01-01T00:00:00.000000Z',
  user_agent: null,
  remote_address: null,
};
const read = (form: 'batch' | 'tolerant', events: readonly object[], turns = new Turns()) =>
  readEvents(form, { events }, { limits: LIMITS, sender: SENDER, pause: turns.pauseOf('o') });

describe('the canonical properties of an event', () => {
  test.each([1e-300, 1e300, 5e-324, -1.7976931348623157e308])(
    'canonical properties of an event hold %s in plain decimal',
    (value) => {
      const text = canonicalText({ value });
      expect(text).toMatch(/^\{"value":-?[\d.]+\}$/);
      expect(JSON.parse(text)).toEqual({ value });
    },
  );

  test('canonical properties of an event are as long as allowed and no longer', () => {
    const value = { a: 'x', b: [1, 1e-7, null, true], c: {} };
    const { length } = canonicalText(value);
    expect(canonicalText(value, length + 10)).toHaveLength(length);
    expect(() => canonicalText(value, length - 1)).toThrow(TooLong);
  });

  test('canonical properties of an event hold at most 1 MiB', () => {
    expect(parseEvent(event({ properties: properties(900, 1e-300) })).ok).toBe(true);
    expect(parseEvent(event({ properties: properties(4000, 1e-300) }))).toEqual({
      ok: false,
      errors: { properties: ['value_is_too_long'] },
    });
  });
});

describe('the canonical properties of a batch', () => {
  const heavy = (count: number) => Array.from({ length: count }, () => event({ properties: properties(90, 1e-300) }));

  test('canonical properties of a batch hold at most 5 MiB', async () => {
    expect((await read('tolerant', heavy(150))).batch.events).toHaveLength(150);
    await expect(read('tolerant', heavy(1000))).rejects.toMatchObject({ status: 413 });
    await expect(
      read(
        'batch',
        Array.from({ length: 100 }, () => heavyEvent()),
      ),
    ).rejects.toThrow(Refusal);
  });

  const heavyEvent = () => event({ properties: properties(980, 1e-300) });

  test('reading the properties of a large batch gives other requests their turn', async () => {
    let turns = 0;
    let isDone = false;
    const count = () => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    // Each event takes a millisecond, however fast the machine is.
    let now = 0;
    const clock = () => {
      now += 1;
      return now;
    };
    await read('tolerant', heavy(150), new Turns(clock));
    isDone = true;
    expect(turns).toBeGreaterThan(10);
  });
});

test('a fingerprint compares a number by its value without writing it out', () => {
  expect(canonicalJson(properties(1000, 1e-300)).length).toBeLessThan(20_000);
  expect(canonicalJson([1e-300])).toBe(canonicalJson([10e-301]));
  expect(new Set([1e-300, 1e-301, -1e-300, 1e300, 1, 0].map((each) => canonicalJson([each]))).size).toBe(6);
  expect(canonicalJson([1.5, 1e21, 1e-7, -2])).toBe('[1.5,1000000000000000000000,0.0000001,-2]');
});
