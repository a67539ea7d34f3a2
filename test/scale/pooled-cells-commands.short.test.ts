import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { projectRoot } from '../../src/platform/project-root.ts';
import { buildOnce, builtProgram } from '../support/build-once.ts';
import { type Pooler, startPgBouncer } from './support/pgbouncer.ts';
import { type OwnPostgres, startOwnPostgres } from './support/postgres.ts';
import { lacks } from './support/programs.ts';

const run = promisify(execFile);
const PASSWORD = 'of-a-cell';
const prefix = `t${randomUUID().slice(0, 8)}`;

// Rule: cells.md#behind-a-pooler. No address of these commands leads past it.
describe.skipIf(lacks('pg_basebackup', 'pgbouncer'))('behind PgBouncer in transaction mode', () => {
  let server: OwnPostgres;
  let pooler: Pooler;
  const urlOf = (role: string) => Object.assign(new URL(server.url), { username: role, password: PASSWORD }).href;

  beforeAll(async () => {
    await buildOnce();
    server = await startOwnPostgres();
    for (const name of ['pg_trgm', 'btree_gin']) await server.admin.unsafe(`create extension ${name} schema public`);
    for (const role of ['east', 'former']) {
      await server.admin.unsafe(`create role ${role} login password '${PASSWORD}'`);
      await server.admin.unsafe(`grant create on database meterstone to ${role}`);
    }
    pooler = await startPgBouncer({ urls: [server.url, urlOf('east'), urlOf('former')] });
  });
  afterAll(async () => {
    await pooler?.stop();
    await server?.stop();
  });

  async function command(name: string, args: string[], settings: Record<string, string> = {}) {
    const env = {
      ...process.env,
      DATABASE_URL: pooler.before(server.url),
      DATABASE_PREPARE: 'false',
      CELL_DATABASE_URLS: ['east', 'former'].map((role) => `${role}=${pooler.before(urlOf(role))}`).join(' '),
      REDIS_URL: inject('redisUrl'),
      REDIS_PREFIX: prefix,
      ...settings,
    };
    const program = [...builtProgram(`src/commands/${name}.ts`), ...args];
    return run(process.execPath, program, { cwd: projectRoot(), env }).then(
      ({ stdout }) => ({ code: 0, out: stdout, complaint: '' }),
      ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
        code,
        out: stdout,
        complaint: stderr,
      }),
    );
  }

  test('a cell with a login of its own is added and migrated, and one without is told which address to give', async () => {
    expect(await command('cells', ['add', 'east', '--database', 'east'])).toEqual({
      code: 0,
      out: `added east: schema cell_east, keys ${prefix}-east:…, 0 organizations\n`,
      complaint: '',
    });
    expect(await command('cells', ['add', 'west'])).toMatchObject({
      code: 1,
      complaint: expect.stringMatching(/a login of its own.*CELL_DATABASE_URLS.*--database/),
    });
    expect(await server.admin`select from pg_namespace where nspname = 'cell_west'`).toHaveLength(0);
    expect(await command('cells', ['migrate'])).toMatchObject({ code: 0, out: 'every cell is up to date\n' });
    const { out } = await command('cells', ['list', '--json']);
    expect(JSON.parse(out)).toMatchObject({ name: 'east', database: 'east', schema: 'cell_east', tables: 'current' });
  });

  test('a service without cells becomes a cell under its own login, with its organizations and keys', async () => {
    const alone = { DATABASE_URL: pooler.before(urlOf('former')), CELL_DATABASE_URLS: '', DATABASE_SCHEMA: 'meters' };
    expect(await command('migrate', [], alone)).toMatchObject({ code: 0 });
    expect(await command('org', ['create', '--name', 'Acme'], alone)).toMatchObject({ code: 0 });
    const taken = ['add', 'former', '--database', 'former', '--schema', 'meters', '--redis-prefix', prefix];
    expect(await command('cells', taken)).toEqual({
      code: 0,
      out: `added former: schema meters, keys ${prefix}:…, 1 organizations\n`,
      complaint: '',
    });
  });
});
