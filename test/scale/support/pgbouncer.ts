import { connectDatabase } from '../../../src/platform/db/connect.ts';
import { choosePort } from '../../../src/platform/services/ports.ts';
import { findProgram } from './programs.ts';
import { newPlace, removePlace, runServer } from './server.ts';

export interface Pooler {
  /** The address behind the pooler of one before it: the same user, password, database and query. */
  before(url: string): string;
  stop(): Promise<void>;
}

interface PoolerInput {
  /** Addresses of the logins that may pass, with the server behind: all of one server. */
  urls: string[];
  mode?: 'transaction' | 'session';
  /** Start-up parameters that are dropped; others that PgBouncer does not follow are refused. */
  ignores?: string[];
  /** Connections to the server for each login and database. */
  poolSize?: number;
}

/** PgBouncer before a Postgres, in transaction mode unless said otherwise, as an operator would set it. */
export async function startPgBouncer(input: PoolerInput): Promise<Pooler> {
  const { urls, mode = 'transaction', ignores = [], poolSize = 20 } = input;
  const place = await newPlace('pgbouncer');
  const logins = urls.map((url) => new URL(url));
  const target = logins[0]!;
  const users = await place.write(
    'users.txt',
    logins.map(({ username, password }) => `"${username}" "${decodeURIComponent(password)}"\n`).join(''),
  );
  const port = await choosePort();
  const before = (url: string) => Object.assign(new URL(url), { port: String(port) }).href;
  const file = await place.write(
    'pgbouncer.ini',
    `[databases]
* = host=${target.hostname} port=${target.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
pool_mode = ${mode}
default_pool_size = ${poolSize}
max_client_conn = 1000
ignore_startup_parameters = ${ignores.join(', ')}
`,
  );
  const probe = connectDatabase(`${before(target.href)}?prepare=false`, { connections: 1 });
  const server = await runServer({
    place,
    file: findProgram('pgbouncer')!,
    args: [file],
    // The pooler is up when it answers, also with a refusal of what the driver sends.
    isReady: () =>
      probe`select 1`.then(
        () => true,
        (error: { code?: string }) => error.code === '08P01',
      ),
    ends: 'SIGTERM',
  });
  await probe.end({ timeout: 1 });
  return {
    before,
    async stop() {
      await server.end();
      await removePlace(place);
    },
  };
}
