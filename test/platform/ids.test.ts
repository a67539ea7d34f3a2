import { validate, version } from 'uuid';
import { expect, test } from 'vitest';
import { newId } from '../../src/platform/ids.ts';

test('ids are UUIDs of version 7 and grow within a process', () => {
  const ids = Array.from({ length: 5000 }, () => newId());
  expect(ids.every((id) => validate(id) && version(id) === 7)).toBe(true);
  expect(ids).toEqual([...new Set(ids)].sort());
});

test('an id contains the time of its creation', () => {
  const before = Date.now();
  const milliseconds = Number.parseInt(newId().replaceAll('-', '').slice(0, 12), 16);
  expect(milliseconds).toBeGreaterThanOrEqual(before);
  expect(milliseconds).toBeLessThanOrEqual(Date.now() + 1);
});
