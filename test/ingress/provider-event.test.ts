import { describe, expect, test } from 'vitest';
import { readProviderEvent } from '../../src/ingress/provider-event.ts';

const nested = (levels: number) => `${'['.repeat(levels)}1${']'.repeat(levels)}`;

describe('an event of a provider', () => {
  test.each([
    ['a null character', '{"id":"e","type":"t","data":"a\\u0000b"}', { data: 'ab' }],
    ['half of a character', '{"id":"e","type":"t","data":["\\ud800x"]}', { data: ['\ufffdx'] }],
    ['odd names', '{"id":"e","type":"t","a\\u0000\\udfff":1}', { 'a\ufffd': 1 }],
    ['numbers beyond a double', '{"id":"e","type":"t","data":1e999}', { data: Number.POSITIVE_INFINITY }],
    ['64 levels', `{"id":"e","type":"t","data":${nested(63)}}`, { data: JSON.parse(nested(63)) }],
  ])('with %s is read', (_, body, rest) => {
    expect(readProviderEvent(body)).toEqual({
      providerEventId: 'e',
      type: 't',
      payload: { id: 'e', type: 't', ...rest },
    });
  });

  test.each([65, 20_000, 250_000])('of %i levels keeps the upper ones, and what stands beside them', (levels) => {
    const read = readProviderEvent(`{"deep":${nested(levels - 1)},"id":"e","a":["]}",[2]],"type":"t"}`);
    const payload = read?.payload as { deep: unknown; a: unknown };
    let inner: unknown = payload.deep;
    let depth = 1;
    for (; Array.isArray(inner); depth += 1) [inner] = inner as unknown[];
    expect([depth, inner]).toEqual([64, '[nested too deeply]']);
    expect(payload.a).toEqual([']}', [2]]);
    expect(read).toMatchObject({ providerEventId: 'e', type: 't' });
  });

  test('with long names is known by their first 255 characters', () => {
    const read = readProviderEvent(JSON.stringify({ id: `\0${'i'.repeat(253)}😀${'x'.repeat(5000)}`, type: 't\0' }))!;
    expect(read.providerEventId).toBe(`${'i'.repeat(253)}\ufffd`);
    expect(read.type).toBe('t');
  });

  test.each([
    '',
    'null',
    '[]',
    '"x"',
    '{"id":"e"}',
    '{"id":1,"type":"t"}',
    `{"id":"e","type":"t","a":${'['.repeat(90)}`,
  ])('is not %j', (body) => {
    expect(readProviderEvent(body)).toBeUndefined();
  });

  test('never holds a hundred thousand values', () => {
    expect(readProviderEvent(`{"id":"e","type":"t","a":[${'1,'.repeat(100_000)}1]}`)).toBeUndefined();
  });
});
