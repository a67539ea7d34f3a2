import { dirname, join } from 'node:path';
import { connectDatabase, type Sql } from '../../../src/platform/db/connect.ts';
import { choosePort } from '../../../src/platform/services/ports.ts';
import { newPassword } from '../../../src/platform/services/postgres-role.ts';
import { mustRun } from '../../../src/platform/services/run-program.ts';
import { until } from '../../support/until.ts';
import { findProgram } from './programs.ts';
import { newPlace, type OwnServer, type Place, removePlace, runServer } from './server.ts';

const SUPERUSER = 'postgres';
/** The role of the service, which owns its database and is no superuser. */
export const ROLE = 'meterstone_test';
const DATABASE = 'meterstone';

/** A Postgres of Debian's with a database of the service, which is nobody else's. */
export interface OwnPostgres {
  port: number;
  /** Address of the database, as the role of the service. */
  url: string;
  /** The same as superuser. */
  adminUrl: string;
  /** As superuser; closed with the server. */
  admin: Sql;
  server: OwnServer;
  /** A standby that streams from this one, caught up as far as its base backup. */
  standby(settings?: Settings): Promise<OwnPostgres>;
  /** From now on commits wait for a standby, which has this name. */
  followSynchronously(name: string): Promise<void>;
  /** Makes a standby the primary; done when it takes writes. */
  promote(): Promise<void>;
  /** Starts it again on its data after its end. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Settings of postgresql.conf; a port of its own is chosen. */
type Settings = Record<string, string>;

const COMMON: Settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  // Nothing of a test outlives its machine.
  fsync: 'off',
  full_page_writes: 'off',
  wal_level: 'replica',
};

const programs = () => dirname(findProgram('pg_basebackup')!);

/** A new server. `lacks('pg_basebackup')` says before whether there is one to start. */
export async function startOwnPostgres(settings: Settings = {}): Promise<OwnPostgres> {
  const place = await newPlace('postgres');
  const data = join(place.folder, 'data');
  const password = newPassword();
  const passwordFile = await place.write('password', password);
  await mustRun(
    join(programs(), 'initdb'),
    [`--pgdata=${data}`, `--username=${SUPERUSER}`, `--pwfile=${passwordFile}`, '--auth=scram-sha-256', '--no-sync'],
    { identity: place.identity },
  );
  const own = await open(place, { port: await choosePort(), password, settings });
  const server = connectDatabase(urlOf(own.port, SUPERUSER, password, 'postgres'), { connections: 1 });
  await server.unsafe(`create role ${ROLE} login password '${password}'`);
  await server.unsafe(`create database ${DATABASE} owner ${ROLE}`);
  await server.end();
  return own;
}

const urlOf = (port: number, user: string, password: string, database = DATABASE) =>
  `postgres://${user}:${password}@127.0.0.1:${port}/${database}`;

interface Opening {
  port: number;
  password: string;
  settings: Settings;
}

async function open(place: Place, { port, password, settings }: Opening): Promise<OwnPostgres> {
  const data = join(place.folder, 'data');
  const flags = Object.entries({ ...COMMON, ...settings, port: String(port) });
  const adminUrl = urlOf(port, SUPERUSER, password);
  const admin = connectDatabase(adminUrl, { connections: 2, name: 'test' });
  const probe = connectDatabase(urlOf(port, SUPERUSER, password, 'postgres'), { connections: 1 });
  const run = () =>
    runServer({
      place,
      file: join(programs(), 'postgres'),
      args: ['-D', data, ...flags.flatMap(([name, value]) => ['-c', `${name}=${value}`])],
      isReady: async () => (await probe`select 1`).length === 1,
    });
  let server = await run();
  return {
    port,
    url: urlOf(port, ROLE, password),
    adminUrl,
    admin,
    get server() {
      return server;
    },
    async standby(more = {}) {
      const copy = await newPlace('standby');
      await mustRun(
        join(programs(), 'pg_basebackup'),
        ['-D', join(copy.folder, 'data'), '-h', '127.0.0.1', '-p', String(port), '-U', SUPERUSER].concat(
          ['-X', 'stream', '-R', '--checkpoint=fast', '--no-sync'],
          ['-d', `dbname=postgres application_name=standby password=${password}`],
        ),
        { identity: copy.identity },
      );
      return open(copy, { port: await choosePort(), password, settings: { ...settings, ...more } });
    },
    async followSynchronously(name) {
      await admin.unsafe(`alter system set synchronous_standby_names = '${name}'`);
      await admin`select pg_reload_conf()`;
      await until(
        async () =>
          (await admin`select from pg_stat_replication where application_name = ${name} and sync_state = 'sync'`)
            .length > 0,
      );
    },
    async promote() {
      await probe`select pg_promote(true, 30)`;
    },
    async restart() {
      server = await run();
    },
    async stop() {
      await Promise.all([admin.end({ timeout: 1 }), probe.end({ timeout: 1 })]);
      await server.end();
      await removePlace(place);
    },
  };
}
