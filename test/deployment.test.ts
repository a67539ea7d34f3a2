import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { describeSettings, loadConfig } from '../src/platform/config.ts';
import { whyDriverIsWrong } from '../src/platform/db/mended-driver.ts';
import { projectRoot } from '../src/platform/project-root.ts';
import { buildOnce } from './support/build-once.ts';

const compose = readFileSync(join(projectRoot(), 'docker-compose.yml'), 'utf8');

/** The text of one service, up to the next one of the same indentation. */
const serviceOf = (name: string): string => compose.split(new RegExp(`\\n  ${name}:\\n`))[1]!.split(/\n {2}\S/)[0]!;

test.each(['DATABASE_PASSWORD', 'POSTGRES_PASSWORD', 'REDIS_PASSWORD', 'SECRETS_KEYS', 'PUBLIC_URL'])(
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

test('docker compose sets a password for Redis and publishes only the port of the ingress', () => {
  expect(serviceOf('redis')).toContain('--requirepass');
  const published = [...compose.matchAll(/\n {2}(\S+):\n(?:(?!\n {2}\S)[\s\S])*?\n {4}ports:/g)].map(
    ([, name]) => name,
  );
  expect(published).toEqual(['ingress']);
  expect(serviceOf('ingress')).toMatch(/ports: \["\$\{PUBLISHED_ON:-127\.0\.0\.1:3000\}:3000"\]/);
});

test('docker compose hands on what links and mails need, and every name that it hands on is a setting', () => {
  const [, environment] = /environment: &environment\n((?: {4}.*\n)+)/.exec(compose)!;
  const handed = [...environment!.matchAll(/^ {4}([A-Z_]+):/gm)].map(([, name]) => name!);
  expect(handed).toEqual(expect.arrayContaining(['PUBLIC_URL', 'TRUST_PROXY_HOPS', 'SMTP_URL', 'MAIL_FROM']));
  const known = [...describeSettings().map(({ name }) => name), 'NODE_ENV'];
  expect(handed.filter((name) => !known.includes(name))).toEqual([]);
  // Empty is as good as absent for a process.
  expect(() => loadConfig(Object.fromEntries(handed.map((name) => [name, ''])))).not.toThrow();
});

const dockerfile = readFileSync(join(projectRoot(), 'Dockerfile'), 'utf8').replace(/\\\n/g, ' ');
const lastStage = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));
const exists = (path: string) => existsSync(join(projectRoot(), path));
/** A file of the image: compiled from a source of the same name, or copied. */
const isInImage = (path: string) => exists(path.replace(/^dist\/(.*)\.js$/, '$1.ts'));

test('the files that the Dockerfile copies are in the project and in the build context', () => {
  const sources = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, paths]) => paths!.split(' '));
  expect(sources).toContain('migrations');
  expect(sources.filter((path) => !exists(path))).toEqual([]);
  const sent = readFileSync(join(projectRoot(), '.dockerignore'), 'utf8')
    .match(/^!.+$/gm)!
    .map((line) => line.slice(1));
  expect(sources.filter((path) => !sent.some((each) => path === each || path.startsWith(`${each}/`)))).toEqual([]);
});

test('the image holds no tests, benches, sources or compiler, runs as an unprivileged user and checks itself', () => {
  const copied = [...lastStage.matchAll(/^COPY .*?(\S+)$/gm)].map(([, to]) => to);
  expect(copied.sort()).toEqual(['./', 'bin', 'data', 'dist', 'migrations', 'node_modules']);
  expect(dockerfile).toMatch(/npm ci --omit=dev --omit=optional/);
  expect(lastStage).toMatch(/^USER node$/m);
  expect(lastStage).toMatch(/^HEALTHCHECK .*CMD \["node", "dist\/src\/commands\/health.js"\]$/m);
  expect(lastStage).toMatch(/^ENTRYPOINT \["tini", "--", "node"/m);
  expect(lastStage).toMatch(/^LABEL org.opencontainers.image.title=/m);
});

test('the compiler is an optional package, so the stage that builds leaves none of them out', () => {
  const build = dockerfile.slice(0, dockerfile.indexOf(' AS dependencies'));
  expect(build).toMatch(/^RUN npm ci --ignore-scripts$/m);
});

test('docker compose builds every process from the Dockerfile, and each names a file of the image', () => {
  expect(compose).toMatch(/^ {2}build: \.$/m);
  expect(compose).not.toContain('dockerfile_inline');
  const commands = [...compose.matchAll(/^ {4}command: ((?:dist|bin)\S+)/gm)].map(([, file]) => file!);
  const files = [...compose.matchAll(/"((?:dist|bin)\/\S+?)"/g), ...lastStage.matchAll(/"((?:dist|bin)\/\S+?)"/g)];
  expect([...commands, ...files.map(([, file]) => file!)].filter((file) => !isInImage(file))).toEqual([]);
  const pools = readdirSync(join(projectRoot(), 'workers')).filter((file) => !['all.ts', 'pools.ts'].includes(file));
  const run = commands.flatMap((file) => /^dist\/workers\/(.+)\.js$/.exec(file)?.[1] ?? []);
  expect(run.sort()).toEqual(pools.map((file) => file.replace('.ts', '')).sort());
});

const run = promisify(execFile);

test('the files that docs/operations.md lists as shipped install and run by themselves, with the patched driver', {
  timeout: 300_000,
}, async () => {
  const page = readFileSync(join(projectRoot(), 'docs/operations.md'), 'utf8');
  const [, sentence] = /^What ships is ([\s\S]+?)\sand what `npm ci --omit=dev`\sinstalls\sthere/m.exec(page)!;
  const shipped = [...sentence!.matchAll(/`(.+?)`/g)].map(([, name]) => name!);
  expect(shipped).toContain('package-lock.json');
  const folder = mkdtempSync(join(tmpdir(), 'meterstone-shipped-'));
  // A whole installation goes: on a busy machine that takes longer than a hook usually has.
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }), 120_000);
  await buildOnce();
  for (const name of shipped) cpSync(join(projectRoot(), name), join(folder, name), { recursive: true });

  const { NODE_ENV: _mode, ...env } = process.env;
  const there = { cwd: folder, env };
  await run('npm', ['ci', '--omit=dev', '--omit=optional', '--prefer-offline', '--no-audit', '--no-fund'], there);
  expect(await whyDriverIsWrong(folder)).toBeUndefined();
  const { stdout } = await run(process.execPath, ['bin/meterstone.mjs', '--help'], there);
  expect(stdout).toMatch(/^usage: meterstone start /);
  const started = await run(process.execPath, ['bin/meterstone.mjs', 'start', '--help'], there);
  expect(started.stdout).toMatch(/^Usage: start /);

  // The driver as it is published, as `npm ci --ignore-scripts` leaves it.
  const connection = join(folder, 'node_modules/postgres/src/connection.js');
  writeFileSync(connection, readFileSync(connection, 'utf8').replace('.catch(() => [])', ''));
  expect(await whyDriverIsWrong(folder)).toMatch(/is not mended .*: run "node bin\/patch-driver.mjs"$/);
  const address = { DATABASE_URL: 'postgres://u:p@127.0.0.1:1/x', REDIS_URL: 'redis://127.0.0.1:1' };
  const ended = await run(process.execPath, ['dist/workers/writes.js'], {
    ...there,
    env: { ...env, ...address, NODE_ENV: 'development' },
  }).catch((error) => error as { code: number; stderr: string });
  expect(ended).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^writes: the database driver .* is not mended/),
  });
});

test('pm2 hands SECRETS_KEYS to every process by name', async () => {
  const { apps } = await import(join(projectRoot(), 'ecosystem.config.js'));
  expect(apps.length).toBeGreaterThan(10);
  for (const { env } of apps) expect(env).toHaveProperty('SECRETS_KEYS');
});

test('the pool of streams is there only where CONNECTORS_FILE is set', async () => {
  const { CONNECTORS_FILE: _, ...env } = process.env;
  const show = `console.log((await import('./ecosystem.config.js')).apps.map(({ name }) => name).join())`;
  const poolsWith = async (more: object): Promise<string[]> => {
    const input = { cwd: projectRoot(), env: { ...env, ...more } as NodeJS.ProcessEnv };
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', show], input);
    return stdout.trim().split(',');
  };
  expect(await poolsWith({})).not.toContain('connectors');
  expect(await poolsWith({ CONNECTORS_FILE: '/etc/connectors.yaml' })).toContain('connectors');
  expect(serviceOf('connectors')).toContain('profiles: [streams]');
});
