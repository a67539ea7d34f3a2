import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOrganization } from '../../src/areas/tenancy/organizations/commands.ts';
import { connectDatabase, type Sql } from '../../src/platform/db/connect.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import { projectRoot } from '../../src/platform/project-root.ts';
import { bringServices, type Services } from '../../src/platform/services/discover.ts';
import { choosePort } from '../../src/platform/services/ports.ts';
import { buildOnce } from '../support/build-once.ts';
import { inLongRun } from '../support/long-run.ts';
import { newFolder } from '../support/new-folder.ts';
import { TEST_SECRETS, TEST_SECRETS_KEYS } from '../support/service.ts';
import { ready } from './processes.ts';
import { Producer } from './producer.ts';

/** Data and write-ahead log of the servers. */
const ENOUGH_BYTES = 2 * 1024 ** 3;
const EVENTS_PER_SECOND = inLongRun(200, 60);
const SECONDS = 30;
/**
 * A copy of the ingress that starts while the file `slow` is there does nothing for this long first: longer than a
 * process has for its end (16 s), and than the 15 s for which pm2 once waited.
 */
const SLOW_START_MS = 20_000;
/** The longest start that was seen, on a machine with nothing to spare. */
const LONGEST_START_MS = 130_000;

let folder: string;
let services: Services;
let sql: Sql;
let url: string;
let pm2: (...args: string[]) => Promise<string>;

beforeAll(async () => {
  await buildOnce();
  folder = await newFolder('pm2', ENOUGH_BYTES);
  services = await bringServices({ dataDir: join(folder, 'data') });
  sql = connectDatabase(services.databaseUrl, { connections: 2 });
  await migrate(sql);
  await writeFile(
    join(folder, 'slow-start.cjs'),
    `const isIngress = (process.env.pm2_env ?? '').includes('"name":"ingress"');
     if (isIngress && require('node:fs').existsSync(${JSON.stringify(join(folder, 'slow'))}))
       Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${SLOW_START_MS});`,
  );
  const port = await choosePort();
  url = `http://127.0.0.1:${port}`;
  const environment = {
    ...process.env,
    // A pm2 of the test's own: nobody else's processes are seen or touched.
    PM2_HOME: join(folder, 'pm2'),
    PORT: String(port),
    DATABASE_URL: services.databaseUrl,
    REDIS_URL: services.redisUrl,
    DATABASE_POOL: '6',
    NODE_OPTIONS: `--require ${join(folder, 'slow-start.cjs')}`,
    SECRETS_KEYS: TEST_SECRETS_KEYS,
    // What is shown is that no request is lost, not how long one waits on a machine that is busy with starts.
    WRITE_TIMEOUT_SECONDS: '30',
  };
  pm2 = async (...args) =>
    (await promisify(execFile)('npx', ['--no-install', 'pm2', ...args], { cwd: projectRoot(), env: environment }))
      .stdout;
  await pm2('start', 'ecosystem.config.js');
  await ready(url);
}, 600_000);

afterAll(async () => {
  await pm2?.('kill');
  await sql?.end({ timeout: 1 });
  await services?.stop();
  await rm(folder, { recursive: true, force: true });
}, 60_000);

test('scaling and reloading pm2 under load loses no request and no job', { timeout: 180_000 }, async () => {
  const organization = await createOrganization(sql, { name: 'Reloaded', sandbox: false }, TEST_SECRETS);
  const producer = new Producer(url, organization.api_key);
  const running = producer.run(EVENTS_PER_SECOND, SECONDS);
  await pm2('scale', 'events', '2');
  await pm2('reload', 'writes');
  await pm2('reload', 'events');
  await pm2('reload', 'ingress');
  await pm2('scale', 'events', '1');
  await running;

  // Not one request had to be repeated.
  expect([...producer.statuses.keys()]).toEqual([200]);
  const [stored] = await sql<
    { events: number }[]
  >`select count(*) as events from events where organization_id = ${organization.organization_id}`;
  expect(stored!.events).toBe(EVENTS_PER_SECOND * SECONDS);
  const customers =
    await sql`select external_id from customers where organization_id = ${organization.organization_id}`;
  expect(customers).toHaveLength(producer.customers.size);
});

test('a pm2 reload keeps the port open however long the new copy takes to start', { timeout: 400_000 }, async () => {
  const statuses = new Set<number | string>();
  const use = async () => {
    const organization = await createOrganization(sql, { name: 'Slowly reloaded', sandbox: false }, TEST_SECRETS);
    const producer = new Producer(url, organization.api_key);
    await producer.run(20, 10);
    for (const status of producer.statuses.keys()) statuses.add(status);
  };
  await writeFile(join(folder, 'slow'), '');
  const startedAt = performance.now();
  let reloadedAt: number | undefined;
  const reloading = pm2('reload', 'ingress').then(() => {
    reloadedAt = performance.now();
  });
  while (reloadedAt === undefined) await use();
  await reloading;
  await rm(join(folder, 'slow'));
  await use();
  expect(reloadedAt - startedAt).toBeGreaterThan(SLOW_START_MS);
  const ingress = JSON.parse(await pm2('jlist')).find(({ name }: { name: string }) => name === 'ingress');
  expect(ingress.pm2_env.listen_timeout).toBeGreaterThan(2 * LONGEST_START_MS);
  // Not one request had to be repeated.
  expect([...statuses]).toEqual([200]);
});

test('the log of a process is where "pm2 logs" looks', async () => {
  const { apps } = await import(join(projectRoot(), 'ecosystem.config.js'));
  const logs = await Promise.all(
    (JSON.parse(await pm2('jlist')) as { name: string; pm2_env: { pm_out_log_path: string } }[]).map(
      async ({ name, pm2_env }) => ({ name, text: await readFile(pm2_env.pm_out_log_path, 'utf8') }),
    ),
  );
  expect(new Set(logs.map(({ name }) => name)).size).toBe(apps.length);
  for (const { name, text } of logs) {
    expect(text).toMatch(name === 'ingress' ? /"msg":"ingress listening"/ : /"msg":"pools started"/);
  }
});
