import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { projectRoot } from '../../src/platform/project-root.ts';
import { buildOnce, builtProgram } from '../support/build-once.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const run = promisify(execFile);
const prefix = `t${randomUUID().slice(0, 8)}`;

let database: TestDatabase;
beforeAll(async () => {
  await buildOnce();
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** What a command prints; with its exit code and complaint when it fails. */
async function command(name: string, ...args: string[]): Promise<{ code: number; out: string; complaint: string }> {
  const env = { ...process.env, DATABASE_URL: database.url, REDIS_URL: inject('redisUrl'), REDIS_PREFIX: prefix };
  try {
    const { stdout, stderr } = await run(process.execPath, [...builtProgram(`src/commands/${name}.ts`), ...args], {
      cwd: projectRoot(),
      env,
    });
    return { code: 0, out: stdout, complaint: stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, out: stdout, complaint: stderr };
  }
}

test('without a directory every command but add and migrate says how it is made', async () => {
  for (const args of [['list'], ['drain', 'first'], ['resume', 'first']]) {
    const { code, complaint } = await command('cells', ...args);
    expect([code, complaint]).toEqual([1, expect.stringContaining('run "npm run cells -- add"')]);
  }
});

test('an organization is made in the cell that is named, and its key noted', async () => {
  expect(await command('cells', 'add', 'first', '--schema', 'public')).toMatchObject({
    code: 0,
    out: `added first: schema public, keys ${prefix}:…, 0 organizations\n`,
  });
  expect((await command('cells', 'add', 'west')).out).toContain(`schema cell_west, keys ${prefix}-west:…`);
  const made = await command('org', 'create', '--cell', 'west', '--name', 'Acme', '--json');
  const { organization_id: id } = JSON.parse(made.out) as { organization_id: string };
  const rows = await database.sql`
    select organization.cell, count(key.digest)::int as keys
    from control.organizations organization join control.api_keys key on key.organization_id = organization.id
    where organization.id = ${id} group by 1`;
  expect([...rows]).toEqual([{ cell: 'west', keys: 1 }]);
  expect(await database.sql`select from cell_west.organizations where id = ${id}`).toHaveLength(1);
  expect(await database.sql`select from public.organizations`).toHaveLength(0);
  expect((await command('org', 'list', '--cell', 'west', '--json')).out).toContain(id);
  expect(await command('org', 'create', '--cell', 'east', '--name', 'Acme')).toMatchObject({
    code: 1,
    complaint: expect.stringContaining('there is no cell "east"'),
  });
});

test('a cell that is drained takes no organization, and the list says where each cell is', async () => {
  expect((await command('cells', 'drain', 'west', '--retry-after', '600')).out).toContain('west is drained');
  expect(await command('org', 'create', '--cell', 'west', '--name', 'Late')).toMatchObject({
    code: 1,
    complaint: expect.stringContaining('is drained'),
  });
  const { out } = await command('cells', 'list', '--json');
  const shared = { database: 'default', tables: 'current' };
  expect(
    out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object),
  ).toEqual([
    { ...shared, name: 'first', state: 'serving', schema: 'public', redis_prefix: prefix, organizations: 0 },
    {
      ...shared,
      name: 'west',
      state: 'drained',
      schema: 'cell_west',
      redis_prefix: `${prefix}-west`,
      organizations: 1,
    },
  ]);
  expect(await command('cells', 'drain', 'west', '--retry-after', '0')).toMatchObject({
    code: 1,
    complaint: 'cells: --retry-after takes 1 to 86400 seconds\n',
  });
  expect((await command('cells', 'resume', 'west')).out).toBe('west serves again: schema cell_west on DATABASE_URL\n');
  expect((await command('cells', 'migrate')).out).toBe('every cell is up to date\n');
});
