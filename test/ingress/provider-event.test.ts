import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { readProviderEvents } from '../../src/ingress/provider-event.ts';
import { oneEventABody } from '../../src/platform/payments/descriptor.ts';

const readProviderEvent = (body: string) => readProviderEvents(body, oneEventABody)[0]!;
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const nested = (levels: number) => `${'['.repeat(levels)}1${']'.repeat(levels)}`;

describe('events of payment providers', () => {
  test.each([
    ['a null character', '{"id":"e","type":"t","data":"a\\u0000b"}', { data: 'ab' }],
    ['half of a character', '{"id":"e","type":"t","data":["\\ud800x"]}', { data: ['\ufffdx'] }],
    ['odd names', '{"id":"e","type":"t","a\\u0000\\udfff":1}', { 'a\ufffd': 1 }],
    ['numbers beyond a double', '{"id":"e","type":"t","data":1e999}', { data: Number.POSITIVE_INFINITY }],
    ['64 levels', `{"id":"e","type":"t","data":${nested(63)}}`, { data: JSON.parse(nested(63)) }],
  ])('a provider event with %s is read', (_, body, rest) => {
    expect(readProviderEvent(body)).toEqual({
      providerEventId: 'e',
      type: 't',
      payload: { id: 'e', type: 't', ...rest },
    });
  });

  test.each([65, 20_000, 250_000])(
    'a provider event of %i levels keeps the upper ones and what stands beside them',
    (levels) => {
      const read = readProviderEvent(`{"deep":${nested(levels - 1)},"id":"e","a":["]}",[2]],"type":"t"}`);
      const payload = read?.payload as { deep: unknown; a: unknown };
      let inner: unknown = payload.deep;
      let depth = 1;
      for (; Array.isArray(inner); depth += 1) [inner] = inner as unknown[];
      expect([depth, inner]).toEqual([64, '[nested too deeply]']);
      expect(payload.a).toEqual([']}', [2]]);
      expect(read).toMatchObject({ providerEventId: 'e', type: 't' });
    },
  );

  test('long or unusual names in a provider event are cut with a digest, so that two stay different', () => {
    const idOf = (id: string) => readProviderEvent(JSON.stringify({ id, type: 't\0' })).providerEventId;
    const long = `${'i'.repeat(189)}😀${'x'.repeat(5000)}`;
    expect(idOf(long)).toBe(`${'i'.repeat(189)}\ufffd-${sha256(long)}`);
    expect(idOf(`${long}x`)).not.toBe(idOf(long));
    expect(idOf('e\0')).not.toBe(idOf('e'));
    expect(idOf('i'.repeat(255))).toBe('i'.repeat(255));
  });

  test.each([
    '',
    'null',
    '[]',
    '"x"',
    '{"id":"e"}',
    '{"id":"","type":"t"}',
    '{"id":1,"type":"t"}',
    `{"id":"e","type":"t","a":${'['.repeat(90)}`,
  ])('a provider event without an id is stored under the digest of its body: %j', (body) => {
    const payload = { not_understood: body };
    expect(readProviderEvent(body)).toEqual({ providerEventId: sha256(body), type: 'not_understood', payload });
  });

  test('of an unreadable provider event no digits of a card are stored, also where it is cut', () => {
    const kept = ({ payload }: { payload: object }) => (payload as { not_understood: string }).not_understood;
    expect(kept(readProviderEvent('card 4242 4242 4242 4242, cvc'))).toBe('card [card …4242], cvc');
    expect(kept(readProviderEvent(`${'x'.repeat(984)} 4242 4242 4242 4242`))).toBe('x'.repeat(984));
  });

  test('an unreadable provider event is stored in part', () => {
    expect(readProviderEvent(`\0${'x'.repeat(900_000)}`).payload).toEqual({ not_understood: 'x'.repeat(999) });
  });

  test('of two members with one name a provider event keeps the last', () => {
    expect(readProviderEvent('{"id":"a","type":"t","id":"e"}').payload).toEqual({ id: 'e', type: 't' });
  });

  test('a provider event is read behind a byte order mark', () => {
    expect(readProviderEvent('\ufeff{"id":"e","type":"t"}').providerEventId).toBe('e');
  });
});

describe('provider events with more than a hundred thousand values', () => {
  const many = `[${'1,'.repeat(100_000)}1]`;
  const members = (count: number) => Array.from({ length: count }, (_, n) => `"k${n}":1`).join();
  const TOO_MANY = '[too many values]';

  test('a provider event with too many values loses its largest parts and keeps what stands around them', () => {
    const body = `{"data":{"object":{"lines":[{"of":${many}},[1,2]],"id":"pi_1","s":"],["}},"id":"e","type":"t"}`;
    expect(readProviderEvent(body)).toEqual({
      providerEventId: 'e',
      type: 't',
      payload: { data: { object: { lines: [{ of: TOO_MANY }, [1, 2]], id: 'pi_1', s: '],[' } }, id: 'e', type: 't' },
    });
  });

  test('each part of a provider event has at most a thousand values', () => {
    const [fits, exceeds] = [members(1000), members(1001)];
    const { payload } = readProviderEvent(`{"id":"e","type":"t","a":{${fits}},"b":{${exceeds}},"c":${many}}`);
    expect(payload).toMatchObject({ b: TOO_MANY, c: TOO_MANY });
    expect(Object.keys((payload as { a: object }).a)).toHaveLength(1000);
  });

  test('a provider event with too many values has the same depth limit as any other', () => {
    const { payload } = readProviderEvent(`{"id":"e","type":"t","a":${nested(20_000)},"b":${many}}`);
    expect(JSON.stringify(payload)).toContain('[nested too deeply]');
    expect(payload).toMatchObject({ b: TOO_MANY });
  });

  test('a provider event with too many values keeps its first hundred members', () => {
    const { payload } = readProviderEvent(`{"id":"e","type":"t",${members(150_000)}}`);
    expect(Object.keys(payload)).toHaveLength(100);
    expect(payload).toMatchObject({ id: 'e', k97: 1 });
  });
});
