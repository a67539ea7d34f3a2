import { expect, test } from 'vitest';
import { loadConfig } from '../../../src/platform/config.ts';
import { readRedisAddress } from '../../../src/platform/redis/address.ts';

test.each(['redis://host:6379', 'rediss://user:password@host/2'])('%s names a single server', (url) => {
  expect(readRedisAddress(url)).toEqual({ kind: 'single' });
});

test('a cluster is named by some of its nodes', () => {
  expect(readRedisAddress('redis+cluster://a,b:7001,[::1]:7002')).toEqual({
    kind: 'cluster',
    nodes: [
      { host: 'a', port: 6379 },
      { host: 'b', port: 7001 },
      { host: '::1', port: 7002 },
    ],
    login: {},
    isEncrypted: false,
  });
  expect(readRedisAddress('rediss+cluster://:p%40ss@redis-0.internal')).toEqual({
    kind: 'cluster',
    nodes: [{ host: 'redis-0.internal', port: 6379 }],
    login: { password: 'p@ss' },
    isEncrypted: true,
  });
});

test('a master is named as its Sentinels know it', () => {
  expect(readRedisAddress('redis+sentinel://main@a,b:26380')).toEqual({
    kind: 'sentinel',
    name: 'main',
    sentinels: [
      { host: 'a', port: 26_379 },
      { host: 'b', port: 26_380 },
    ],
    login: {},
    sentinelLogin: {},
    db: 0,
    isEncrypted: false,
  });
  const whole = 'rediss+sentinel://user:p%3A@main@a/3?sentinel_username=watch&sentinel_password=s';
  expect(readRedisAddress(whole)).toMatchObject({
    name: 'main',
    login: { username: 'user', password: 'p:' },
    sentinelLogin: { username: 'watch', password: 's' },
    db: 3,
    isEncrypted: true,
  });
});

test.each([
  ['redis+cluster://a,,b', /takes hosts with commas between them/],
  ['redis+cluster://a:0', /takes hosts with commas between them/],
  ['redis+cluster://a:70000', /takes hosts with commas between them/],
  ['redis+cluster://a b', /takes hosts with commas between them/],
  ['redis+cluster://a/1', /takes no database for a cluster/],
  ['redis+cluster://a?tls=1', /takes nothing behind the hosts/],
  ['redis+cluster://u:%@a', /takes users, passwords and names percent-encoded/],
  ['redis+sentinel://a,b', /takes the name of the master and @/],
  ['redis+sentinel://main@a/x', /takes a whole number as database/],
  ['redis+sentinel://main@a?role=slave', /takes only sentinel_username and sentinel_password behind \?/],
])('%s is refused with a plain sentence', (url, sentence) => {
  expect(() => loadConfig({ REDIS_URL: url })).toThrow(sentence);
  expect(() => loadConfig({ REDIS_URL: url })).toThrow(/^the settings are not valid: REDIS_URL: takes/);
});

test('a prefix with braces is refused, since it would put all keys on one node', () => {
  expect(() => loadConfig({ REDIS_PREFIX: '{a}' })).toThrow('REDIS_PREFIX: must hold no braces');
});
