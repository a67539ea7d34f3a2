import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { createOrganization } from '../../src/areas/tenancy/organizations/commands.ts';
import { connectDatabase } from '../../src/platform/db/connect.ts';
import { projectRoot } from '../../src/platform/project-root.ts';
import { birthOf, isAlive } from '../../src/platform/services/processes.ts';
import { type Running, whyNotTwice } from '../../src/platform/services/run-file.ts';
import { filesOf, killHard, newDataFolder } from '../platform/services/data-folder.ts';
import { buildOnce } from '../support/build-once.ts';
import { createTestDatabase } from '../support/database.ts';
import { keyIn, spawnStart, startUp, stop } from '../support/launcher.ts';
import { until } from '../support/until.ts';

beforeAll(buildOnce, 300_000);

test('one npm start brings everything up, a second one disturbs nothing, and Ctrl-C stops all and keeps the data', async () => {
  const dataDir = await newDataFolder();
  const first = await startUp(dataDir);
  const { customer } = await paste(first.output());
  expect(customer.external_id).toBe('my-first-customer');
  expect(await isSuperuser(dataDir)).toBe(false);

  const second = spawnStart(dataDir);
  const [code] = await once(second.process, 'exit');
  expect(code).toBe(1);
  expect(second.output()).toContain(`already running (process ${first.process.pid}): http://127.0.0.1:`);
  expect((await paste(first.output())).customer.svc_id).toBe(customer.svc_id);

  const { children, pids } = await processesOf(dataDir);
  await stop(first.process);
  for (const pid of [...children, ...pids]) expect(isAlive(pid)).toBe(false);
  expect(await filesOf(dataDir)).not.toContain('run.json');

  const again = await startUp(dataDir);
  expect(keyIn(again.output())).toBe(keyIn(first.output()));
  expect((await paste(again.output())).customer.svc_id).toBe(customer.svc_id);
  await stop(again.process);
}, 600_000);

test('a killed child is started again, and a killed launcher leaves nothing that blocks the next start', async () => {
  const dataDir = await newDataFolder();
  const first = await startUp(dataDir);
  const before = await readRunFile(dataDir);
  process.kill(before.children!.ingress!.pid, 'SIGKILL');
  await until(async () => {
    const now = await readRunFile(dataDir);
    return now.children?.ingress && now.children.ingress.pid !== before.children!.ingress!.pid;
  });
  await until(() => paste(first.output()));

  const { children } = await processesOf(dataDir);
  await killHard(first.process);
  await until(() => children.every((pid) => !isAlive(pid)));

  const second = await startUp(dataDir);
  expect(keyIn(second.output())).toBe(keyIn(first.output()));
  await stop(second.process);
}, 600_000);

test('npm start adds nothing to a database that already has organizations', async () => {
  const database = await createTestDatabase();
  await createOrganization(database.sql, { name: 'Of others', sandbox: false });
  const started = await startUp(await newDataFolder(), { DATABASE_URL: database.url });
  expect(started.output()).toContain('none made: this database has organizations of its own');
  const organizations = await database.sql`select name from organizations`;
  await stop(started.process);
  await database.drop();
  expect(organizations.map(({ name }) => name)).toEqual(['Of others']);
}, 600_000);

test('a second npm start says so before anything is compiled', async () => {
  const dataDir = await newDataFolder();
  await mkdir(dataDir, { recursive: true });
  const birth = birthOf(process.pid);
  await writeFile(join(dataDir, 'run.json'), JSON.stringify({ launcher: { pid: process.pid, birth } }));
  expect(await whyNotTwice(dataDir)).toBe(`already running (process ${process.pid}): it is still starting`);
  const { scripts } = JSON.parse(await readFile(join(projectRoot(), 'package.json'), 'utf8'));
  expect(scripts.prestart).toMatch(/^node src\/commands\/start\/not-twice.mjs && /);
});

/** Does what a person does with the printed line. */
async function paste(output: string): Promise<{ customer: { svc_id: string; external_id: string } }> {
  const line = /^curl .*$/m.exec(output)![0];
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', line]);
  return JSON.parse(stdout);
}

const readRunFile = async (dataDir: string): Promise<Running> =>
  JSON.parse(await readFile(join(dataDir, 'run.json'), 'utf8'));

async function processesOf(dataDir: string): Promise<{ children: number[]; pids: number[] }> {
  const { children } = await readRunFile(dataDir);
  const postgres = await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8');
  const redis = await readFile(join(dataDir, 'redis', 'redis.pid'), 'utf8');
  return {
    children: Object.values(children ?? {}).map((child) => child.pid),
    pids: [Number.parseInt(postgres, 10), Number.parseInt(redis, 10)],
  };
}

async function isSuperuser(dataDir: string): Promise<boolean> {
  const { databaseUrl } = JSON.parse(await readFile(join(dataDir, 'run.json'), 'utf8')) as Running;
  const sql = connectDatabase(databaseUrl!, { connections: 1 });
  try {
    const [role] = await sql<{ rolsuper: boolean }[]>`select rolsuper from pg_roles where rolname = current_user`;
    return role!.rolsuper;
  } finally {
    await sql.end({ timeout: 1 });
  }
}
