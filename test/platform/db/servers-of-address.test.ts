import { expect, test } from 'vitest';
import { loadConfig } from '../../../src/platform/config.ts';
import { isLostConnection } from '../../../src/platform/db/refusal-of-database.ts';
import { serversOf } from '../../../src/platform/db/servers-of-address.ts';

// Rule: several-hosts.md#fail-over.
test.each([
  ['postgres://u:p@a/x', ['postgres://u:p@a/x']],
  ['postgres://u:p@a/x?target_session_attrs=read-only', ['postgres://u:p@a/x?target_session_attrs=read-only']],
  ['postgres://u:p@a:1,b/x', ['postgres://u:p@a:1/x', 'postgres://u:p@b/x']],
  ['postgres://u:p@a,[::1]:2/x?target_session_attrs=primary', ['postgres://u:p@a/x', 'postgres://u:p@[::1]:2/x']],
  [
    'postgresql://u:p@a,b/x?target_session_attrs=primary&sslmode=require',
    ['postgresql://u:p@a/x?sslmode=require', 'postgresql://u:p@b/x?sslmode=require'],
  ],
  [
    'postgres://u@a,b/x?sslmode=require&target_session_attrs=primary',
    ['postgres://u@a/x?sslmode=require', 'postgres://u@b/x?sslmode=require'],
  ],
])('%s names the servers %j', (address, servers) => {
  expect(serversOf(address)).toEqual(servers);
});

test('several servers are taken for their primary only, and each has to be named', () => {
  const load = (DATABASE_URL: string) => loadConfig({ DATABASE_URL }).DATABASE_URL;
  expect(load('postgres://u:p@a,b/x')).toBe('postgres://u:p@a,b/x');
  expect(load('postgres://a,b/x?target_session_attrs=read-write')).toContain('a,b');
  expect(() => load('postgres://a,b/x?target_session_attrs=standby')).toThrow(
    /DATABASE_URL: must say target_session_attrs=primary, or nothing of it/,
  );
  expect(() => load('postgres://a,,b/x')).toThrow('DATABASE_URL: must name every server');
});

test.each([
  ['25006', {}, true],
  ['57P01', {}, true],
  ['57P02', {}, true],
  ['57P03', {}, true],
  ['08006', {}, true],
  ['CONNECTION_CLOSED', {}, true],
  ['ECONNREFUSED', { query: 'select 1' }, true],
  ['ECONNREFUSED', {}, false], // of a provider or a mail server
  ['40P01', {}, false],
  ['53300', {}, false],
  ['23505', {}, false],
])('an error %s with %j: is the connection lost? %s', (code, more, expected) => {
  expect(isLostConnection(Object.assign(new Error(code), { code, ...more }))).toBe(expected);
});
