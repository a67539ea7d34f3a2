import { expect, test } from 'vitest';
import { doubtfulSettings, loadConfig } from '../../src/platform/config.ts';
import { misspelled } from '../../src/platform/misspelled.ts';

const known = ['PORT', 'HOST', 'DATABASE_URL', 'REDIS_URL', 'PORTAL_TOKEN_TTL_HOURS', 'CONCURRENCY_WRITES'];

test.each([
  ['PORTAL_TOKEN_TTL_HOUR', 'PORTAL_TOKEN_TTL_HOURS'],
  ['PORTAL_TOKEN_TTL', 'PORTAL_TOKEN_TTL_HOURS'],
  ['DATABSE_URL', 'DATABASE_URL'],
  ['REDIS_ULR', 'REDIS_URL'],
  ['CONCURENCY_WRITE', 'CONCURRENCY_WRITES'],
])('the setting %s was meant as %s', (given, meant) => {
  expect(misspelled([given], known)).toEqual([{ given, meant }]);
});

test.each([
  'HOME',
  'POST',
  'PATH',
  'HOSTNAME',
  'npm_config_cache',
  'REDIS_HOST',
  'PORTAL',
  'DATABASE',
  'DATABASE_NAME',
])('the variable %s belongs to another program', (given) => {
  expect(misspelled([given], known)).toEqual([]);
});

test('a name close to a setting that is also set is not a misspelling', () => {
  expect(misspelled(['REDIS_URI', 'REDIS_URL'], known)).toEqual([]);
});

test('the variables of this process and an empty environment raise no suspicion', () => {
  expect(doubtfulSettings({ PATH: '/bin', HOME: '/root', LANG: 'C', SHELL: '/bin/sh', PWD: '/' })).toEqual([]);
  expect(doubtfulSettings({ PORTAL_TOKEN_TTL_HOUR: '3' })).toEqual([
    'PORTAL_TOKEN_TTL_HOUR is no setting and has no effect: is PORTAL_TOKEN_TTL_HOURS meant?',
  ]);
});

test.each([
  ['PORT', '99999', /PORT: .*65535/],
  ['PORT', '-1', /PORT: /],
  ['DATABASE_URL', 'mysql://x', /DATABASE_URL: must be an address, for example DATABASE_URL=postgres:/],
  ['DATABASE_URL', 'foo', /DATABASE_URL: must be an address, for example DATABASE_URL=postgres:/],
  ['REDIS_URL', 'foo', /REDIS_URL: must be an address, for example REDIS_URL=redis:/],
  ['REDIS_URL', 'http://127.0.0.1:6379', /REDIS_URL: must be an address, for example REDIS_URL=redis:/],
  ['DOCUMENT_FONT', '/nope.ttf', /DOCUMENT_FONT: must be the path of a font that can be read/],
  ['DOCUMENT_FONT', '/etc/passwd', /DOCUMENT_FONT: must be the path of a font that can be read/],
])('%s=%s is refused by its name', (name, value, sentence) => {
  expect(() => loadConfig({ [name]: value })).toThrow(sentence);
});
