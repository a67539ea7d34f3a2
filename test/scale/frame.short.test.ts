import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectDatabase } from '../../src/platform/db/connect.ts';
import { until } from '../support/until.ts';
import { type Pooler, startPgBouncer } from './support/pgbouncer.ts';
import { type OwnPostgres, startOwnPostgres } from './support/postgres.ts';
import { lacks } from './support/programs.ts';

describe.skipIf(lacks('pg_basebackup'))('a primary with a standby', () => {
  let primary: OwnPostgres;
  let standby: OwnPostgres;
  beforeAll(async () => {
    primary = await startOwnPostgres();
    standby = await primary.standby();
  });
  afterAll(async () => {
    await standby?.stop();
    await primary?.stop();
  });

  test('what the primary stores comes to the standby, which takes writes once it is promoted', async () => {
    await primary.admin`create table notes (id integer)`;
    await primary.admin`insert into notes values (1)`;
    await until(async () => (await standby.admin`select id from notes`).length === 1);
    await expect(standby.admin`insert into notes values (2)`).rejects.toMatchObject({ code: '25006' });
    primary.server.signal('SIGKILL');
    await standby.promote();
    const writer = connectDatabase(standby.adminUrl, { connections: 1 });
    await writer`insert into notes values (2)`;
    expect(await writer`select id from notes order by id`).toEqual([{ id: 1 }, { id: 2 }]);
    await writer.end();
  });
});

describe.skipIf(lacks('pg_basebackup', 'pgbouncer'))('PgBouncer in transaction mode', () => {
  let server: OwnPostgres;
  let pooler: Pooler;
  beforeAll(async () => {
    server = await startOwnPostgres();
    pooler = await startPgBouncer({ urls: [server.url, server.adminUrl], poolSize: 1 });
  });
  afterAll(async () => {
    await pooler?.stop();
    await server?.stop();
  });

  test('lends one session to two connections, and refuses parameters of a start', async () => {
    const url = pooler.before(server.url);
    const [one, two] = [postgres(url, { max: 1, prepare: false }), postgres(url, { max: 1, prepare: false })];
    const [first] = await one`select pg_backend_pid() as pid`;
    const [second] = await two`select pg_backend_pid() as pid`;
    expect(second!.pid).toBe(first!.pid);
    await Promise.all([one.end(), two.end()]);
    const asking = postgres(url, { max: 1, connection: { search_path: 'public' } });
    await expect(asking`select 1`).rejects.toThrow('unsupported startup parameter: search_path');
    await asking.end();
  });
});
