import { once } from 'node:events';
import { chmod, chown, mkdir, readdir, readFile, realpath, stat, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import postgres from 'postgres';
import { describe, expect, onTestFinished, test } from 'vitest';
import { bringServices } from '../../../src/platform/services/discover.ts';
import { isPortFree } from '../../../src/platform/services/ports.ts';
import { isAlive } from '../../../src/platform/services/processes.ts';
import { until } from '../../support/until.ts';
import { bring, filesOf, holdElsewhere, killHard, newClosedFolder, newDataFolder } from './data-folder.ts';

const noServers = { postgres: { path: [], roots: [] } };

describe('servers on a data folder', () => {
  test('servers keep data and addresses over a stop and a start', async () => {
    const dataDir = await newClosedFolder();
    const first = await bring({ dataDir });
    await note(first.databaseUrl, first.redisUrl, 'kept');
    await first.stop();
    expect(isAlive(first.pids.postgres!)).toBe(false);
    expect(isAlive(first.pids.redis!)).toBe(false);

    const second = await bring({ dataDir });
    expect(second.databaseUrl).toBe(first.databaseUrl);
    expect(second.redisUrl).toBe(first.redisUrl);
    expect(await readNotes(second.databaseUrl, second.redisUrl)).toEqual(['kept', 'kept']);
  });

  test('servers are set up as the service needs them and listen on this machine only', async () => {
    const dataDir = await newDataFolder();
    const { databaseUrl, redisUrl } = await bring({ dataDir });
    const asSuperuser = new URL(databaseUrl);
    asSuperuser.username = 'meterstone';
    asSuperuser.password = JSON.parse(await readFile(join(dataDir, 'postgres', 'meterstone.json'), 'utf8')).password;

    const settings = await withPostgres(asSuperuser.href, async (sql) => {
      const rows = await sql<{ name: string; setting: string }[]>`
        select name, setting from pg_settings
        where name in ('listen_addresses', 'unix_socket_directories', 'fsync', 'synchronous_commit',
          'max_connections')`;
      return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
    });
    expect(settings).toEqual({
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      fsync: 'on',
      synchronous_commit: 'on',
      max_connections: '200',
    });

    const config = await withRedis(redisUrl, (redis) =>
      redis.config('GET', 'maxmemory-policy', 'appendonly', 'appendfsync', 'bind'),
    );
    expect(config).toEqual(
      expect.arrayContaining(['noeviction', 'appendonly', 'yes', 'appendfsync', 'everysec', 'bind', '127.0.0.1']),
    );
  });

  test('servers refuse callers without the password', async () => {
    const { databaseUrl, redisUrl } = await bring({ dataDir: await newDataFolder() });
    const database = new URL(databaseUrl);
    database.password = 'wrong';
    const invalidPassword = { code: '28P01' };
    await expect(withPostgres(database.href, (sql) => sql`select 1`)).rejects.toMatchObject(invalidPassword);

    const socket = connect(Number(new URL(redisUrl).port), '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.write('PING\r\n');
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^-NOAUTH/);
  });

  test('servers are shared by commands that run at the same time, and the last one stops them', async () => {
    const dataDir = await newDataFolder();
    const [first, second] = await Promise.all([bring({ dataDir }), bring({ dataDir })]);
    expect(second.databaseUrl).toBe(first.databaseUrl);
    expect([first.origin.postgres, second.origin.postgres].filter((kind) => kind === 'adopted')).toHaveLength(1);

    await first.stop();
    expect(await withRedis(second.redisUrl, (redis) => redis.ping())).toBe('PONG');
    await second.stop();
    expect(isAlive(second.pids.postgres!)).toBe(false);
  });

  test('servers take another port when theirs was taken meanwhile', async () => {
    const dataDir = await newDataFolder();
    const first = await bring({ dataDir });
    await note(first.databaseUrl, first.redisUrl, 'kept');
    await first.stop();
    const ports = [new URL(first.databaseUrl).port, new URL(first.redisUrl).port].map(Number);
    await Promise.all(ports.map(occupy));

    const second = await bring({ dataDir });
    expect(ports).not.toContain(Number(new URL(second.databaseUrl).port));
    expect(ports).not.toContain(Number(new URL(second.redisUrl).port));
    expect(await readNotes(second.databaseUrl, second.redisUrl)).toEqual(['kept', 'kept']);
  });

  test('servers are started again when they end while in use', async () => {
    const services = await bring({ dataDir: await newDataFolder() });
    const { databaseUrl, redisUrl, pids } = services;
    const before = { ...pids };
    expect(await services.revive()).toEqual([]);
    process.kill(before.redis!, 'SIGKILL');
    process.kill(before.postgres!, 'SIGKILL');
    await until(() => !isAlive(before.redis!) && !isAlive(before.postgres!));

    expect((await services.revive()).sort()).toEqual(['postgres', 'redis']);
    expect([services.databaseUrl, services.redisUrl]).toEqual([databaseUrl, redisUrl]);
    expect(await withRedis(redisUrl, (redis) => redis.ping())).toBe('PONG');
  });
});

describe('start after a crash', () => {
  test('the next start adopts servers that were left running', async () => {
    const dataDir = await newDataFolder();
    const { holder, report } = await holdElsewhere(dataDir);
    await note(report.databaseUrl, report.redisUrl, 'kept');
    await killHard(holder);

    const services = await bring({ dataDir });
    expect(services.origin).toEqual({ postgres: 'adopted', redis: 'adopted' });
    expect(services.pids).toEqual(report.pids);
    await services.stop();
    expect(isAlive(report.pids.postgres)).toBe(false);
    expect(isAlive(report.pids.redis)).toBe(false);
  });

  test('the next start after a crash recovers everything committed', async () => {
    const dataDir = await newDataFolder();
    const { holder, report } = await holdElsewhere(dataDir);
    await withPostgres(report.databaseUrl, (sql) => sql`create table notes as select 'kept' as text`);
    await killHard(holder);
    for (const pid of Object.values(report.pids)) process.kill(pid, 'SIGKILL');

    const { databaseUrl } = await bring({ dataDir });
    const [row] = await withPostgres(databaseUrl, (sql) => sql`select text from notes`);
    expect(row).toEqual({ text: 'kept' });
  });

  test('pid files that name a foreign process do not block a start', async () => {
    const dataDir = await newDataFolder();
    const first = await bring({ dataDir });
    const port = new URL(first.databaseUrl).port;
    await first.stop();
    const lines = [process.pid, join(dataDir, 'postgres'), 1_700_000_000, port, '', '127.0.0.1', '', 'ready   ', ''];
    await writeFile(join(dataDir, 'postgres', 'postmaster.pid'), lines.join('\n'));
    await writeFile(join(dataDir, 'redis', 'redis.pid'), `${process.pid}\n`);

    const second = await bring({ dataDir });
    expect(second.origin).not.toMatchObject({ postgres: 'adopted' });
    expect(await withRedis(second.redisUrl, (redis) => redis.ping())).toBe('PONG');
  });

  test('incomplete data of a killed first start is thrown away', async () => {
    const dataDir = await newClosedFolder();
    const first = await bring({ dataDir });
    await first.stop();
    const draft = `${await realpath(join(dataDir, 'postgres'))}.draft-1234`;
    await mkdir(draft);
    await bring({ dataDir });
    await expect(stat(draft)).rejects.toThrow('ENOENT');
  });

  test('Redis data that cannot be read is put aside', async () => {
    const dataDir = await newDataFolder();
    const first = await bring({ dataDir });
    await first.stop();
    const folder = join(dataDir, 'redis', 'appendonlydir');
    for (const name of await readdir(folder)) await writeFile(join(folder, name), 'not the format of any version');

    const said: string[] = [];
    const second = await bring({ dataDir, log: (line) => said.push(line) });
    expect(await withRedis(second.redisUrl, (redis) => redis.dbsize())).toBe(0);
    expect(said.join()).toContain('starts empty');
  });
});

describe('temporary servers', () => {
  test('temporary servers leave nothing when stopped', async () => {
    const services = await bringServices({ throwaway: true });
    const folder = await withPostgres(services.databaseUrl, async (sql) => {
      const [row] = await sql<{ data_directory: string }[]>`show data_directory`;
      return row!.data_directory;
    });
    await services.stop();
    expect(await readdir(folder).catch(() => 'gone')).toBe('gone');
  });

  test('temporary servers end with the process that started them, however it ends', async () => {
    const dataDir = await newDataFolder();
    const { holder, report } = await holdElsewhere(join(dataDir, 'inner'), { throwaway: true });
    await killHard(holder);
    await until(() => !isAlive(report.pids.postgres) && !isAlive(report.pids.redis));
    await until(async () => (await readdir(dataDir)).length === 0);
  });

  test('temporary servers refuse a folder that is not empty', async () => {
    const dataDir = await newDataFolder();
    await writeFile(join(dataDir, 'precious'), '');
    await expect(bringServices({ dataDir, throwaway: true })).rejects.toThrow('is not empty');
  });
});

describe('sources of the server programs', () => {
  test('URLs in the settings are used as they are', async () => {
    const services = await bringServices({ databaseUrl: 'postgres://given/db', redisUrl: 'redis://given' });
    expect(services).toMatchObject({
      databaseUrl: 'postgres://given/db',
      redisUrl: 'redis://given',
      origin: { postgres: 'given', redis: 'given' },
    });
    await services.stop();
  });

  test('the embedded Postgres runs when the machine has none', async (context) => {
    const services = await bringServices({ throwaway: true, search: noServers }).catch((error: Error) => error);
    if (services instanceof Error) return context.skip(`the optional package is not installed: ${services.message}`);
    onTestFinished(() => services.stop());
    expect(services.origin.postgres).toBe('embedded');
    const [row] = await withPostgres(services.databaseUrl, (sql) => sql`select lower('Ä') as letter`);
    expect(row).toEqual({ letter: 'ä' });
  });

  test('an ordinary user can start servers in a folder of his own', async (context) => {
    if (process.getuid?.() !== 0) return context.skip('every other test runs as an ordinary user here');
    const nobody = { uid: 65534, gid: 65534 };
    const dataDir = await newDataFolder();
    await chown(dataDir, nobody.uid, nobody.gid);
    await chmod(dataDir, 0o700);
    const held = await holdElsewhere(dataDir, nobody).catch((error: Error) => error);
    if (held instanceof Error) return context.skip(`this checkout is closed to other users: ${held.message}`);

    expect(await filesOf(dataDir)).toEqual(['postgres', 'redis', 'users']);
    held.holder.stdin!.end();
    await until(() => !isAlive(held.report.pids.postgres) && !isAlive(held.report.pids.redis));
  });
});

/** Listens on a port for the rest of the test. */
async function occupy(port: number): Promise<void> {
  const server = createServer();
  await until(() => isPortFree(port));
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
}

async function note(databaseUrl: string, redisUrl: string, text: string): Promise<void> {
  await withPostgres(databaseUrl, (sql) => sql`create table notes as select ${text}::text as text`);
  await withRedis(redisUrl, (redis) => redis.set('note', text));
}

async function readNotes(databaseUrl: string, redisUrl: string): Promise<(string | null)[]> {
  const [row] = await withPostgres(databaseUrl, (sql) => sql<{ text: string }[]>`select text from notes`);
  return [row!.text, await withRedis(redisUrl, (redis) => redis.get('note'))];
}

async function withPostgres<T>(url: string, work: (sql: postgres.Sql) => PromiseLike<T>): Promise<T> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined });
  try {
    return await work(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

async function withRedis<T>(url: string, work: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: 0, retryStrategy: () => null });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    return await work(redis);
  } finally {
    redis.disconnect();
  }
}
