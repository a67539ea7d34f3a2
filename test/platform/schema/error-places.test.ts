import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Operation } from '../../../src/platform/operation.ts';
import { refuse } from '../../../src/platform/refusal.ts';
import { bodyWithPlaces, pathText } from '../../../src/platform/schema/error-places.ts';

const Part = z.object({ code: z.enum(['a', 'b']), parts: z.array(z.object({ rate: z.string() })).nullish() });
const operation = {
  root: 'thing',
  body: z.object({ name: z.string(), parts: z.array(Part), free: z.record(z.string(), z.unknown()).optional() }),
} as unknown as Operation;
const placesOf = (body: object, details: object) =>
  bodyWithPlaces(operation, { body }, refuse.invalid(details as Record<string, unknown>)).error_places;

test.each<[object, string, string | undefined]>([
  [{}, 'name', 'thing.name'],
  [{ parts: [{}] }, 'code', 'thing.parts[0].code'],
  [{ parts: [{}, {}] }, 'code', 'thing.parts'],
  [{ parts: [{}, { parts: [{}] }] }, 'rate', 'thing.parts[1].parts[0].rate'],
  [{ parts: [{}, {}] }, 'parts.1.code', 'thing.parts[1].code'],
  [{ free: { currency: 'EUR' } }, 'currency', undefined],
  [{}, 'base', undefined],
  [{}, '__proto__', undefined],
])('in %j an error of %s is placed at %s', (body, field, path) => {
  const places = placesOf(body, Object.fromEntries([[field, ['odd']]])) as { path: string }[] | undefined;
  expect(places?.map((place) => place.path)).toEqual(path === undefined ? undefined : [path]);
});

test.each([
  [['a', 0, 'b-c'], 'a[0].b-c'],
  [['a', 'b c', 'd.e', '"'], 'a["b c"]["d.e"]["\\""]'],
])('the path %j is written as %s', (path, text) => {
  expect(pathText(path)).toBe(text);
});

test('a field name that is not found is searched in a few parts of a large body only', () => {
  let looked = 0;
  const watched = (part: object) =>
    new Proxy(part, {
      getOwnPropertyDescriptor(target, key) {
        looked += 1;
        return Reflect.getOwnPropertyDescriptor(target, key);
      },
    });
  const parts = Array.from({ length: 50_000 }, () => watched({ parts: [{ rate: '1' }] }));
  expect(placesOf({ parts }, { nowhere: ['odd'] })).toBeUndefined();
  expect(looked).toBeLessThan(20_000);
});
