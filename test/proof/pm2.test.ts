import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectDatabase, type Sql } from '../../src/platform/db/connect.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import { projectRoot } from '../../src/platform/project-root.ts';
import { bringServices, type Services } from '../../src/platform/services/discover.ts';
import { choosePort } from '../../src/platform/services/ports.ts';
import { createOrganization } from '../../src/resources/organizations/commands.ts';
import { ready } from './processes.ts';
import { Producer } from './producer.ts';

const EVENTS_PER_SECOND = 200;
const SECONDS = 30;

let folder: string;
let services: Services;
let sql: Sql;
let url: string;
let pm2: (...args: string[]) => Promise<string>;

beforeAll(async () => {
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: projectRoot(), stdio: 'inherit' });
  folder = await mkdtemp(join(tmpdir(), 'meterstone-pm2-'));
  services = await bringServices({ dataDir: join(folder, 'data') });
  sql = connectDatabase(services.databaseUrl, { connections: 2 });
  await migrate(sql);
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
    LOG_LEVEL: 'warn',
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

test('scaling and reloading under load loses no request and no job', { timeout: 180_000 }, async () => {
  const organization = await createOrganization(sql, { name: 'Reloaded', sandbox: false });
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
