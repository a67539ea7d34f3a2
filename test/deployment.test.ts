import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectRoot } from '../src/platform/project-root.ts';

const compose = readFileSync(join(projectRoot(), 'docker-compose.yml'), 'utf8');

/** The text of one service, up to the next one of the same indentation. */
const serviceOf = (name: string): string => compose.split(new RegExp(`\\n  ${name}:\\n`))[1]!.split(/\n {2}\S/)[0]!;

test.each(['DATABASE_PASSWORD', 'POSTGRES_PASSWORD', 'REDIS_PASSWORD', 'SECRETS_KEYS'])(
  'docker compose does not start without %s, which has no default',
  (name) => {
    expect(compose).toContain(`\${${name}:?`);
    expect(compose).not.toContain(`\${${name}:-`);
    expect(compose).not.toContain(`\${${name}-`);
  },
);

test('docker compose has no password of its own', () => {
  const addresses = compose.match(/(?:postgres|redis):\/\/\S+/g)!;
  expect(addresses).toHaveLength(2);
  for (const address of addresses) expect(address).toMatch(/^(postgres:\/\/meterstone|redis:\/\/):\$\{/);
  for (const [, value] of compose.matchAll(/PASSWORD: (.+)/g)) expect(value).toMatch(/^\$\{/);
});

test('docker compose gives the service an ordinary Postgres role', () => {
  expect(serviceOf('postgres')).not.toContain('POSTGRES_USER');
  expect(compose).toMatch(/create role meterstone login nosuperuser nocreatedb nocreaterole password/);
  expect(compose).toContain('create database meterstone owner meterstone;');
});

test('docker compose asks for a password at Redis and publishes the port of the ingress only', () => {
  expect(serviceOf('redis')).toContain('--requirepass');
  const published = [...compose.matchAll(/\n {2}(\S+):\n(?:(?!\n {2}\S)[\s\S])*?\n {4}ports:/g)].map(
    ([, name]) => name,
  );
  expect(published).toEqual(['ingress']);
});
