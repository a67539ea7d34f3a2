import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { connectPatiently, type Redis } from '../../../src/platform/redis/connect.ts';
import { refuseSeveralSlots, tagOf } from '../../support/one-slot.ts';

refuseSeveralSlots();
let redis: Redis;
beforeAll(() => {
  redis = connectPatiently(inject('redisUrl'), 'test');
});
afterAll(() => redis.disconnect());

test.each([
  ['{p:writes}:writes:wait', 'p:writes'],
  ['p:acc:{o}:{x}', 'o'],
  ['p:key-usage', 'p:key-usage'],
  ['p{}', 'p{}'],
])('the slot of %s is that of %s', (key, tag) => expect(tagOf(key)).toBe(tag));

test('tests refuse what a cluster would refuse, whatever Redis they have', async () => {
  const script = 'return #KEYS';
  expect(await redis.eval(script, 2, '{a}1', '{a}2')).toBe(2);
  await expect(redis.eval(script, 2, '{a}1', '{b}1')).rejects.toThrow(/^CROSSSLOT Keys in eval .*: a, b$/);
  await expect(redis.del('one', 'two')).rejects.toThrow(/^CROSSSLOT/);
  await expect(redis.pipeline().get('{a}1').get('{b}1').exec()).rejects.toThrow(/^CROSSSLOT/);
  expect(await redis.pipeline().get('{a}1').get('{a}2').exec()).toHaveLength(2);
  redis.defineCommand('countKeys', { lua: script });
  const counting = redis as Redis & { countKeys(...keys: (string | number)[]): Promise<number> };
  await expect(counting.countKeys(2, '{a}1', '{b}1')).rejects.toThrow(/^CROSSSLOT Keys in evalsha/);
});
