import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectDatabase, type Sql } from '../../src/platform/db/connect.ts';
import { type Pooler, startPgBouncer } from './support/pgbouncer.ts';
import { type OwnPostgres, startOwnPostgres } from './support/postgres.ts';
import { lacks } from './support/programs.ts';

const ROUNDS = 200;
const AT_ONCE = 40;

/**
 * A pooler gives a server back with the last answer that is owed, so that a statement which is only parsed behind
 * another one on the same connection would lose its server, and its caller would wait for ever.
 *
 * Rule: several-hosts.md#prepared-statements.
 */
describe.skipIf(lacks('pg_basebackup', 'pgbouncer'))('statements behind PgBouncer in transaction mode', () => {
  let server: OwnPostgres;
  let pooler: Pooler;
  let sql: Sql;
  beforeAll(async () => {
    server = await startOwnPostgres();
    pooler = await startPgBouncer({ urls: [server.url] });
    sql = connectDatabase(`${pooler.before(server.url)}?prepare=false`, { connections: 4 });
  });
  afterAll(async () => {
    await sql?.end({ timeout: 1 });
    await pooler?.stop();
    await server?.stop();
  });

  const ask = async (index: number): Promise<number> => {
    if (index % 3 === 0) return (await sql<{ n: number }[]>`select 1 as n`)[0]!.n;
    if (index % 3 === 1) return (await sql<{ n: number }[]>`select ${1}::int as n`)[0]!.n;
    return sql.begin(async (tx) => (await tx<{ n: number }[]>`select ${1}::int as n`)[0]!.n);
  };

  test('with and without parameters, in transactions and alone, many at once, all are answered', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const answers = await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => ask(index + round)));
      expect(answers).toEqual(Array.from({ length: AT_ONCE }, () => 1));
    }
  }, 60_000);
});
